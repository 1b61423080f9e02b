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
        # why 3: The rows of a block depend on all tokens up to its end, so these are what it is
        #        found by, and what every sequence has to know of itself.
        self.tokens, self.filled_for = {}, [None] * blocks
        self.begun = 0

    def new(self):
        # Numbers are never used twice.
        seq, self.begun = self.begun, self.begun + 1
        self.tables[seq], self.lengths[seq] = [], 0
        # why 3: A new sequence has no token.
        self.tokens[seq] = ()
        return seq

    # why 3: A full block that was filled for the same beginning is found, held or free; a free one
    #        is free no longer. The loop leaves a token over.
    def start(self, tokens):
        tokens, seq = tuple(int(t) for t in tokens), self.new()
        for end in range(self.size, len(tokens), self.size):
            if tokens[:end] not in self.filled_for:
                break
            block = self.filled_for.index(tokens[:end])
            if self.holders[block] == 0:
                self.unused.remove(block)
            self.holders[block] += 1
            self.tables[seq].append(block)
            self.lengths[seq], self.tokens[seq] = end, tokens[:end]
        return seq, self.lengths[seq]

    def append(self, seq, tokens, rows):
        table = self.tables[seq]
        # why: The last block is shared if it is not full and has another holder. Both sides would
        #      write their next rows to the same places of it.
        held = self.lengths[seq]
        shared = len(rows) > 0 and held % self.size > 0 and self.holders[table[-1]] > 1
        # why 2: What an append takes is known before it changes anything: the new blocks, and one
        #        for the copy.
        needed = -(-(held + len(rows)) // self.size) - len(table) + shared
        if needed > len(self.unused):
            raise MemoryError("too few blocks are free")
        # why: Whoever writes to a shared block first takes a copy, and holds the old one no longer.
        if shared:
            copy = self.unused.pop(0)
            self.pool[copy] = self.pool[table[-1]]
            self.holders[copy] = 1
            self.holders[table[-1]] -= 1
            table[-1] = copy
            # why 3: What is taken is not found any more.
            self.filled_for[copy] = None
        # why 3: Whole blocks of the text are registered as they become full.
        self.tokens[seq] += tuple(int(t) for t in tokens)
        for row in rows:
            at = self.lengths[seq] % self.size
            if at == 0:
                # The last block is full, or there is none yet.
                table.append(self.unused.pop(0))
                self.holders[table[-1]] = 1
                # why 3: Its rows are about to be overwritten.
                self.filled_for[table[-1]] = None
            self.pool[table[-1], at] = row
            self.lengths[seq] += 1
            # why 3: From here on it is found by all tokens up to its end.
            if self.lengths[seq] % self.size == 0:
                self.filled_for[table[-1]] = self.tokens[seq][: self.lengths[seq]]

    def fork(self, seq):
        other = self.new()
        # The table is copied: the two grow apart.
        self.tables[other] = list(self.tables[seq])
        self.lengths[other] = self.lengths[seq]
        # why 3: So does what the two are found by.
        self.tokens[other] = self.tokens[seq]
        for block in self.tables[other]:
            self.holders[block] += 1
        return other

    def read(self, seq):
        # An index that is a list makes a copy.
        rows = self.pool[self.tables[seq]]
        return rows.reshape(-1, rows.shape[2])[: self.lengths[seq]]

    def free(self, seq):
        # why 3: The last block first: without those before it, it could not be found.
        for block in reversed(self.tables.pop(seq)):
            self.holders[block] -= 1
            # why 2: A block that another sequence holds is not free.
            if self.holders[block] == 0:
                self.unused.append(block)
        del self.lengths[seq]

    def in_use(self):
        return len(self.holders) - len(self.unused)
