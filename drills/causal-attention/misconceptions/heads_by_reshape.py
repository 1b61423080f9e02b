"""The tokens are cut into heads, not the features, and put together again in the same way."""


def _split(a, heads):
    batch, tokens, features = a.shape
    return a.reshape(batch, heads, tokens, features // heads)


def _merged(a):
    batch, heads, tokens, width = a.shape
    return a.reshape(batch, tokens, heads * width)
