"""Queries stand one position further than their keys."""


def _turned(q, k, past):
    positions = np.arange(past, past + q.shape[2])
    return rope(q, positions + 1), rope(k, positions)
