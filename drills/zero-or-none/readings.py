"""Readings of machines, and what is wrong with each: made up, and given as they are."""

import math

import torch


def batch(rows=64, seed=0):
    """Return x (rows, 12), c (rows, 4) and y (rows,), one of five classes."""
    rng, task = (torch.Generator().manual_seed(s) for s in (seed, 2026))
    x = torch.randn(rows, 12, generator=rng)
    c = torch.randn(rows, 4, generator=rng)
    first = torch.randn(12, 16, generator=task) / math.sqrt(12)
    second = torch.randn(16, 5, generator=task)
    third = torch.randn(4, 5, generator=task)
    return x, c, (torch.tanh(x @ first) @ second + c @ third).argmax(dim=1)
