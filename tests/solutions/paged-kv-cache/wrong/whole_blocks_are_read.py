"""Wrong: read gives the unused rows of the last block as well."""

import numpy as np

class PagedCache:
    def __init__(self, blocks, size, width):
        self.size, self.pool = size, np.zeros((blocks, size, width))
        self.unused, self.holders = list(range(blocks)), [0] * blocks
        self.tables, self.lengths, self.begun = {}, {}, 0

    def new(self):
        self.begun += 1
        self.tables[self.begun], self.lengths[self.begun] = [], 0
        return self.begun

    def append(self, seq, tokens, rows):
        table = self.tables[seq]
        for row in np.asarray(rows):
            at = self.lengths[seq] % self.size
            if at == 0:
                table.append(self.unused.pop())
                self.holders[table[-1]] = 1
            elif self.holders[table[-1]] > 1:
                own = self.unused.pop()
                self.holders[own] = 1
                self.holders[table[-1]] -= 1
                self.pool[own] = self.pool[table[-1]]
                table[-1] = own
            self.pool[table[-1], at] = row
            self.lengths[seq] += 1

    def fork(self, seq):
        other = self.new()
        self.tables[other] = list(self.tables[seq])
        self.lengths[other] = self.lengths[seq]
        for block in self.tables[other]:
            self.holders[block] += 1
        return other

    def read(self, seq):
        rows = self.pool[self.tables[seq]]
        return rows.reshape(-1, rows.shape[2])

    def free(self, seq):
        raise NotImplementedError

    def in_use(self):
        return len(self.holders) - len(self.unused)
