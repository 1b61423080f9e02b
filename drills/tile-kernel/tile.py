"""Tiles: blocks of entries that a program loads from memory, works on, and stores.

Programs of a launch run one after the other here, and at the same time on a card.  So an entry
that one program of a launch writes may be read or written by no other one of it; `races` counts
where that happens, although results may be right here.
"""

import numpy as np


class OutOfBounds(Exception):
    """An address outside of a memory."""


class Memory:
    """The entries of a contiguous array, one after the other; an address counts entries."""

    def __init__(self, array):
        self.array = array.reshape(-1)


class Tiles:
    """A machine whose tiles have at most `width` entries."""

    def __init__(self, width, watch=True):
        self.width, self.watch = width, watch
        self.loaded = self.stored = self.races = 0  # entries
        self.grids = []  # programs of each launch
        self.program, self.seen = 0, {}

    def empty(self, size, dtype):
        """Return a memory of some entries; they begin as NaN."""
        return Memory(np.full(size, np.nan, dtype))

    def load(self, memory, at, mask=None, other=0.0):
        """Return a tile like the addresses; `other` stands where mask is False."""
        at, mask, here = self._addresses(memory, at, mask)
        self.loaded += here.size
        if self.watch:
            writer, reader = self._seen(memory)
            self.races += self._others(writer[here])
            before = reader[here]
            reader[here] = np.where((before == -1) | (before == self.program), self.program, -2)
        tile = np.full(at.shape, other, memory.array.dtype)
        tile[mask] = memory.array[here]
        return tile

    def store(self, memory, at, value, mask=None):
        """Write a tile, or one number everywhere, where mask is True; it is cast."""
        at, mask, here = self._addresses(memory, at, mask)
        self.stored += here.size
        if self.watch:
            writer, reader = self._seen(memory)
            self.races += max(self._others(writer[here]), self._others(reader[here]))
            writer[here] = self.program
        memory.array[here] = np.broadcast_to(value, at.shape)[mask]

    def launch(self, kernel, grid, *args):
        """Call kernel(t, program, *args) for the programs 0 to grid - 1."""
        self.grids.append(grid)
        self.seen = {}
        for self.program in range(grid):
            kernel(self, self.program, *args)

    def _addresses(self, memory, at, mask):
        at = np.asarray(at)
        if at.size > self.width:
            raise ValueError(f"a tile has at most {self.width} entries; this one has {at.size}")
        mask = np.broadcast_to(True if mask is None else mask, at.shape)
        here = at[mask]
        for i in (here.min(), here.max()) if here.size else ():
            if not 0 <= i < memory.array.size:
                raise OutOfBounds(f"program {self.program}: address {i} of {memory.array.size}")
        return at, mask, here

    def _seen(self, memory):
        """Return who wrote and who read each entry in this launch: -1 is nobody, -2 several."""
        if id(memory) not in self.seen:
            blank = np.full(memory.array.size, -1)
            self.seen[id(memory)] = blank, blank.copy(), memory
        return self.seen[id(memory)][:2]

    def _others(self, programs):
        """Return how many of these are other programs."""
        return int(np.count_nonzero((programs != -1) & (programs != self.program)))
