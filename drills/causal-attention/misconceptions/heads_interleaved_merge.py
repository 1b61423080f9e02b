"""Head h reads the columns that it should, and writes to every heads-th one."""


def _merged(a):
    batch, heads, tokens, width = a.shape
    return a.transpose(0, 2, 3, 1).reshape(batch, tokens, heads * width)
