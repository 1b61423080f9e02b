"""Keys and values of many sequences, in blocks that samples may share."""

import numpy as np


class PagedCache:
    """Rows of many sequences in one pool of blocks."""

    def __init__(self, blocks, size, width):
        self.size = size
        self.pool = np.zeros((blocks, size, width))
        self.unused = list(range(blocks))
        self.holders = [0] * blocks
        self.tables, self.lengths = {}, {}
        self.begun = 0

    def new(self):
        # Numbers are never used twice.
        seq, self.begun = self.begun, self.begun + 1
        self.tables[seq], self.lengths[seq] = [], 0
        return seq

    def append(self, seq, tokens, rows):
        table = self.tables[seq]
        for row in rows:
            at = self.lengths[seq] % self.size
            if at == 0:
                # The last block is full, or there is none yet.
                table.append(self.unused.pop(0))
                self.holders[table[-1]] = 1
            self.pool[table[-1], at] = row
            self.lengths[seq] += 1

    def fork(self, seq):
        other = self.new()
        # The table is copied: the two grow apart.
        self.tables[other] = list(self.tables[seq])
        self.lengths[other] = self.lengths[seq]
        for block in self.tables[other]:
            self.holders[block] += 1
        return other

    def read(self, seq):
        # An index that is a list makes a copy.
        rows = self.pool[self.tables[seq]]
        return rows.reshape(-1, rows.shape[2])[: self.lengths[seq]]

    def free(self, seq):
        for block in self.tables.pop(seq):
            self.holders[block] -= 1
            self.unused.append(block)
        del self.lengths[seq]

    def in_use(self):
        return len(self.holders) - len(self.unused)
