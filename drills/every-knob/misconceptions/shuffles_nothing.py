"""Rows come in the order in which they are given."""


def batches(x, y, rng):
    every = np.arange(len(x))
    return [_cut(x, y, every[first : first + BATCH]) for first in range(0, len(x), BATCH)]
