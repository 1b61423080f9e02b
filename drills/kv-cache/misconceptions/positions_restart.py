"""Queries and keys of every piece are counted from 0."""


def _turned(q, k, past):
    positions = np.arange(q.shape[2])
    return rope(q, positions), rope(k, positions)
