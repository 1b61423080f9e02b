# %% copied_block_not_registered
"""Wrong: what is filled by the append that copies a shared block is not found again."""

from collections import OrderedDict, defaultdict
from dataclasses import dataclass, field

import numpy as np


@dataclass
class Sequence:
    tokens: list = field(default_factory=list)
    table: list = field(default_factory=list)


class PagedCache:
    def __init__(self, blocks, size, width):
        self.size, self.width = size, width
        self.pool = np.empty((blocks, size, width))
        self.refs = [0] * blocks
        self.free_list = OrderedDict.fromkeys(range(blocks))
        self.seqs = {}
        self.next = 0
        self.by_prefix = defaultdict(set)
        self.prefix_of = {}

    def _take(self):
        b, _ = self.free_list.popitem(last=False)
        if b in self.prefix_of:
            self.by_prefix[self.prefix_of.pop(b)].discard(b)
        self.refs[b] = 1
        return b

    def _hold(self, b):
        self.free_list.pop(b, None)
        self.refs[b] += 1

    def _release(self, b):
        self.refs[b] -= 1
        if self.refs[b] == 0:
            self.free_list[b] = None

    def new(self):
        number = self.next
        self.next += 1
        self.seqs[number] = Sequence()
        return number

    def start(self, tokens):
        number = self.new()
        seq = self.seqs[number]
        for end in range(self.size, len(tokens), self.size):
            found = self.by_prefix.get(tuple(tokens[:end]))
            if not found:
                break
            b = next(iter(found))
            self._hold(b)
            seq.table.append(b)
            seq.tokens = list(tokens[:end])
        return number, len(seq.tokens)

    def append(self, seq, tokens, rows):
        s = self.seqs[seq]
        n, m = len(s.tokens), len(tokens)
        if not m:
            return
        split = n % self.size and self.refs[s.table[-1]] > 1
        need = -(-(n + m) // self.size) - len(s.table) + bool(split)
        if need > len(self.free_list):
            raise MemoryError("no block left")
        if split:
            old, b = s.table[-1], self._take()
            self.pool[b] = self.pool[old]
            s.table[-1] = b
            self._release(old)
        for token, row in zip(tokens, rows):
            slot = len(s.tokens) % self.size
            if slot == 0:
                s.table.append(self._take())
            b = s.table[-1]
            self.pool[b, slot] = row
            s.tokens.append(int(token))
            if slot == self.size - 1 and not split:
                key = tuple(s.tokens)
                self.by_prefix[key].add(b)
                self.prefix_of[b] = key

    def fork(self, seq):
        s = self.seqs[seq]
        number = self.new()
        self.seqs[number] = Sequence(list(s.tokens), list(s.table))
        for b in s.table:
            self._hold(b)
        return number

    def read(self, seq):
        s = self.seqs[seq]
        return self.pool[s.table].reshape(-1, self.width)[: len(s.tokens)].copy()

    def free(self, seq):
        for b in reversed(self.seqs.pop(seq).table):
            self._release(b)

    def in_use(self):
        return len(self.refs) - len(self.free_list)
