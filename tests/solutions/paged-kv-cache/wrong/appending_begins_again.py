"""Wrong: appending to a sequence that was freed begins it again."""

import numpy as np

class PagedCache:
    def __init__(self, blocks, size, width):
        self.size = size
        self.pool = np.zeros((blocks, size, width))
        self.unused = list(range(blocks))
        self.holders = [0] * blocks
        self.tables, self.lines = {}, {}
        self.names = [None] * blocks
        self.begun = 0

    def new(self):
        seq, self.begun = self.begun, self.begun + 1
        self.tables[seq], self.lines[seq] = [], []
        return seq

    def take(self):
        block = self.unused.pop(0)
        self.holders[block], self.names[block] = 1, None
        return block

    def append(self, seq, tokens, rows):
        table, line = self.tables.setdefault(seq, []), self.lines.setdefault(seq, [])
        at = len(line) % self.size
        split = bool(len(rows) and at and self.holders[table[-1]] > 1)
        room = len(table) * self.size - len(line)
        new = max(0, -(-(len(rows) - room) // self.size))
        if new + split > len(self.unused):
            raise MemoryError
        if split:
            block = self.take()
            self.pool[block, :at] = self.pool[table[-1], :at]
            self.holders[table[-1]] -= 1
            table[-1] = block
        for token, row in zip(tokens, rows):
            if len(line) == len(table) * self.size:
                table.append(self.take())
            self.pool[table[-1], len(line) % self.size] = row
            line.append(int(token))
            if len(line) == len(table) * self.size:
                self.names[table[-1]] = tuple(line)

    def fork(self, seq):
        table, line = self.tables[seq][:], self.lines[seq][:]
        other = self.new()
        self.tables[other], self.lines[other] = table, line
        for block in table:
            self.holders[block] += 1
        return other

    def read(self, seq):
        rows = self.pool[self.tables[seq]]
        return rows.reshape(-1, rows.shape[2])[: len(self.lines[seq])]

    def free(self, seq):
        for block in self.tables.pop(seq)[::-1]:
            self.holders[block] -= 1
            if not self.holders[block]:
                self.unused.append(block)
        del self.lines[seq]

    def in_use(self):
        return sum(1 for n in self.holders if n)

    def start(self, tokens):
        seq = self.new()
        table, line = self.tables[seq], self.lines[seq]
        tokens = [int(t) for t in tokens]
        while len(line) + self.size < len(tokens):
            name = tuple(tokens[: len(line) + self.size])
            if name not in self.names:
                break
            block = self.names.index(name)
            if not self.holders[block]:
                self.unused.remove(block)
            self.holders[block] += 1
            table.append(block)
            line[:] = name
        return seq, len(line)
