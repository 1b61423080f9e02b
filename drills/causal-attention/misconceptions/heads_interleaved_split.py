"""Head h reads every heads-th column, beginning with column h, and writes where it should."""


def _split(a, heads):
    batch, tokens, features = a.shape
    return a.reshape(batch, tokens, features // heads, heads).transpose(0, 3, 1, 2)
