"""Machines of tiles, arrays of a precision, and what a machine has counted."""

import numpy as np
from tile import Tiles


def tiles(_, block):
    """Return a machine whose tiles have at most block entries."""
    np.seterr(all="ignore")  # overflow and NaN are what some programs are about
    return Tiles(block)


def unwatched(_, block):
    """Return a machine that notices no races, and so keeps nothing of its own."""
    np.seterr(all="ignore")
    return Tiles(block, watch=False)


def cast(_, array, precision):
    """Return an array in a precision; itself, where it has that."""
    return array.astype(precision, copy=False)


def read(_, found):
    """Return y in float64, the dtype that it had, and rstd; rmsnorm gives y alone, or both."""
    y, rstd = found if isinstance(found, tuple) else (found, None)
    return y.astype(np.float64), str(y.dtype), rstd


def softmax_counts(_, t, x, block):
    """Return entries moved, or what is allowed if that is more, and races."""
    return _counts(t, 2 if x.shape[1] <= block else 3, x)


def rmsnorm_counts(_, t, x, block):
    """Return entries moved, or what is allowed if that is more, and races."""
    return _counts(t, 3 if x.shape[1] <= block else 4, x)


def stored(_, t):
    """Return how many entries were stored."""
    return t.stored


def backward_counts(_, t, x):
    """Return races, the programs of the first launch, and entries moved, or 8 per entry of x."""
    return t.races, t.grids[0], max(t.loaded + t.stored, 8 * x.size)


def wide(_, array):
    """Return an array in float64, and the dtype that it had."""
    return array.astype(np.float64), str(array.dtype)


def _counts(t, times, x):
    """Return entries moved and races; a few numbers per row are nobody's concern."""
    return max(t.loaded + t.stored, times * x.size + 4 * len(x)), t.races
