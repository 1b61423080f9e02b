"""Keys of every piece are counted from 0, queries are not."""


def _turned(q, k, past):
    n = q.shape[2]
    return rope(q, np.arange(past, past + n)), rope(k, np.arange(n))
