"""Scans: 32 numbers each, and one of ten classes where somebody has looked."""

import torch

ROWS, INPUTS, CLASSES = 48, 32, 10


def batch(seed=0):
    """Return x (48, 32) float32 and y (48,) int64, drawn from a seed.

    A blank scan is 0 throughout.  One that could not be read is NaN throughout,
    and has no label.  Of others, too, some have no label yet: y is -1 there.
    """
    rng = torch.Generator().manual_seed(seed)
    x = torch.randn(ROWS, INPUTS, generator=rng)
    y = torch.randint(CLASSES, (ROWS,), generator=rng)
    some = torch.randperm(ROWS, generator=rng)[:12]
    blank, unread, waiting = some.split([2, 3, 7])
    x[blank] = 0.0
    x[unread] = torch.nan
    y[unread] = -1
    y[waiting] = -1
    return x, y
