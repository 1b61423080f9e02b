"""Head h has every heads-th column, beginning with column h."""


def _split(a, heads):
    batch, tokens, features = a.shape
    return a.reshape(batch, tokens, features // heads, heads).transpose(0, 3, 1, 2)


def _merged(a):
    batch, heads, tokens, width = a.shape
    return a.transpose(0, 2, 3, 1).reshape(batch, tokens, heads * width)
