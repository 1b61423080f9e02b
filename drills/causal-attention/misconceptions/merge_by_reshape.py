"""The head axis stays in front of the tokens where heads are put together."""


def _merged(a):
    batch, heads, tokens, width = a.shape
    return a.reshape(batch, tokens, heads * width)
