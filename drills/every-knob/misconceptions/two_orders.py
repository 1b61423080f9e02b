"""Rows and labels are shuffled in two orders."""


def batches(x, y, rng):
    x, y = rng.permutation(x), rng.permutation(y)
    every = np.arange(len(x))
    return [_cut(x, y, every[first : first + BATCH]) for first in range(0, len(x), BATCH)]
