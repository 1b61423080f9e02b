"""Wrong: the block that was freed last is taken first."""

import itertools
import numpy as np

class PagedCache:
    def __init__(self, blocks, size, width):
        self.shape = blocks, size, width
        self.data = np.full((blocks, size, width), np.nan)
        self.refs = np.zeros(blocks, int)
        self.freed_at = np.arange(blocks) - blocks
        self.beginning = np.full(blocks, -1)
        self.number_of, self.count = {}, itertools.count()
        self.seqs, self.names, self.time = {}, itertools.count(100), itertools.count(1)

    def _number(self, parent, tokens):
        return self.number_of.setdefault((parent, tokens), len(self.number_of))

    def _grab(self, how_many):
        idle = np.flatnonzero(self.refs == 0)
        if how_many > len(idle):
            raise MemoryError
        taken = idle[np.argsort(-self.freed_at[idle], kind="stable")][:how_many]
        self.refs[taken] = 1
        self.beginning[taken] = -1
        return taken.tolist()

    def new(self):
        seq = next(self.names)
        self.seqs[seq] = [[], []]
        return seq

    def fork(self, seq):
        table, line = self.seqs[seq]
        other = self.new()
        self.seqs[other] = [table.copy(), line.copy()]
        self.refs[table] += 1
        return other

    def append(self, seq, tokens, rows):
        table, line = self.seqs[seq]
        size = self.shape[1]
        if len(tokens) == 0:
            return
        cow = len(line) % size > 0 and self.refs[table[-1]] > 1
        blocks = self._grab(-(-(len(line) + len(tokens)) // size) - len(table) + int(cow))
        if cow:
            old, table[-1] = table[-1], blocks.pop(0)
            self.data[table[-1]] = self.data[old]
            self.refs[old] -= 1
        table += blocks
        where = np.arange(len(line), len(line) + len(tokens))
        self.data[np.array(table)[where // size], where % size] = rows
        line += [int(t) for t in tokens]
        parent = -1
        for i in range(len(line) // size):
            parent = self._number(parent, tuple(line[i * size : (i + 1) * size]))
            self.beginning[table[i]] = parent

    def read(self, seq):
        table, line = self.seqs[seq]
        return self.data[table].reshape(-1, self.shape[2])[: len(line)].copy()

    def free(self, seq):
        table, _ = self.seqs.pop(seq)
        for block in table[::-1]:
            self.refs[block] -= 1
            if self.refs[block] == 0:
                self.freed_at[block] = next(self.time)

    def in_use(self):
        return int((self.refs > 0).sum())

    def start(self, tokens):
        size, parent, table = self.shape[1], -1, []
        tokens = [int(t) for t in tokens]
        while (len(table) + 1) * size < len(tokens):
            piece = tuple(tokens[len(table) * size : (len(table) + 1) * size])
            parent = self.number_of.get((parent, piece), -2)
            places = np.flatnonzero(self.beginning == parent)
            if parent == -2 or len(places) == 0:
                break
            table.append(int(places[-1]))
        seq = self.new()
        self.seqs[seq] = [table, tokens[: len(table) * size]]
        self.refs[table] += 1
        return seq, len(table) * size
