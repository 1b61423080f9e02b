"""Queries of every piece are counted from 0, keys are not."""


def _turned(q, k, past):
    n = q.shape[2]
    return rope(q, np.arange(n)), rope(k, np.arange(past, past + n))
