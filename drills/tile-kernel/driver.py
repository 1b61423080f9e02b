"""Machines of tiles, arrays of a precision, and what a machine has counted and kept."""

import numpy as np
from tile import Tiles


class _Kept(Tiles):
    """A machine that keeps what its last launch left in the memories that kernels store to."""

    def __init__(self, width):
        super().__init__(width)
        self.written, self.left = {}, []

    def store(self, memory, at, value, mask=None):
        super().store(memory, at, value, mask)
        self.written[id(memory)] = memory

    def launch(self, kernel, grid, *args):
        super().launch(kernel, grid, *args)
        self.left = [memory.array.copy() for memory in self.written.values()]


def tiles(_, block):
    """Return a machine whose tiles have at most block entries."""
    np.seterr(all="ignore")  # overflow and NaN are what some programs are about
    return _Kept(block)


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


def counted(_, t):
    """Return entries loaded and stored, races, programs of the first launch, and memories left.

    The last are those that kernels store to, as the last launch left them.
    """
    return t.loaded + t.stored, t.races, t.grids[0] if t.grids else None, t.left


def softmax_moved(entries, x, block):
    """Return entries moved, or the usual number."""
    return _usual(entries, 2 if x.shape[1] <= block else 3, x)


def rmsnorm_moved(entries, x, block):
    """Return entries moved, or the usual number."""
    return _usual(entries, 3 if x.shape[1] <= block else 4, x)


def backward_moved(entries, x):
    """Return entries moved, or 8 per entry of x."""
    return max(entries, 8 * x.size)


def stored(_, t):
    """Return how many entries were stored."""
    return t.stored


def wide(_, array):
    """Return an array in float64, and the dtype that it had."""
    return array.astype(np.float64), str(array.dtype)


def in_kernels(memories, *arrays):
    """Return whether each row is what the last launch left in a memory that kernels store to.

    An array may come with others behind it: those do not count.
    """
    arrays = [array[0] if isinstance(array, tuple) else array for array in arrays]
    rows = [row for array in arrays for row in np.atleast_2d(array)]
    return all(any(_holds(left, row) for left in memories) for row in rows)


def _usual(entries, times, x):
    """Return entries moved, or the usual number.

    A few numbers per row are nobody's concern, and less than x once each way is not possible.
    """
    usual = times * x.size + 4 * len(x)
    return usual if 2 * x.size <= entries <= usual else entries


def _holds(left, row):
    """Return whether a row is somewhere in a memory, but for a cast."""
    made = left.astype(row.dtype)
    last = made.size - row.size
    begins = (made == row[0]) | (np.isnan(made) & np.isnan(row[0]))
    return any(
        np.array_equal(made[i : i + row.size], row, equal_nan=True)
        for i in np.flatnonzero(begins[: last + 1] if last >= 0 else ())
    )
