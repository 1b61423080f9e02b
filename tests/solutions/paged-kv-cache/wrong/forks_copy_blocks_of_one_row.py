"""Wrong: a fork copies what it holds where blocks have one row."""

from collections import OrderedDict
import numpy as np

class Block:
    def __init__(self, size, width):
        self.rows = np.empty((size, width))
        self.users = 0
        self.text = None

class Sequence:
    def __init__(self, blocks=(), text=()):
        self.blocks, self.text = list(blocks), tuple(text)

class PagedCache:
    def __init__(self, blocks, size, width):
        self.size, self.width = size, width
        self.idle = OrderedDict.fromkeys(Block(size, width) for _ in range(blocks))
        self.all = list(self.idle)
        self.live, self.last = {}, -1

    def _add(self, sequence):
        self.last += 1
        self.live[self.last] = sequence
        return self.last

    def _lock(self, block):
        self.idle.pop(block, None)
        block.users += 1
        return block

    def _unlock(self, block):
        block.users -= 1
        if block.users == 0:
            self.idle[block] = None

    def _fresh(self):
        block = self._lock(next(iter(self.idle)))
        block.text = None
        return block

    def new(self):
        return self._add(Sequence())

    def fork(self, seq):
        parent = self.live[seq]
        if self.size == 1:
            other = self.new()
            self.append(other, parent.text, self.read(seq))
            return other
        return self._add(Sequence([self._lock(b) for b in parent.blocks], parent.text))

    def append(self, seq, tokens, rows):
        own = self.live[seq]
        tokens = tuple(map(int, tokens))
        inside = len(own.text) % self.size
        divide = len(tokens) and inside != 0 and own.blocks[-1].users != 1
        total = (len(own.text) + len(tokens) + self.size - 1) // self.size
        if total - len(own.blocks) + int(divide) > len(self.idle):
            raise MemoryError("full")
        if divide:
            block = self._fresh()
            block.rows[:inside] = own.blocks[-1].rows[:inside]
            self._unlock(own.blocks[-1])
            own.blocks[-1] = block
        while len(own.blocks) < total:
            own.blocks.append(self._fresh())
        for token, row in zip(tokens, np.array(rows)):
            number, place = divmod(len(own.text), self.size)
            own.blocks[number].rows[place] = row
            own.text += (token,)
            if place + 1 == self.size:
                own.blocks[number].text = own.text

    def read(self, seq):
        own = self.live[seq]
        if not own.blocks:
            return np.empty((0, self.width))
        return np.concatenate([b.rows for b in own.blocks])[: len(own.text)]

    def free(self, seq):
        for block in reversed(self.live.pop(seq).blocks):
            self._unlock(block)

    def in_use(self):
        return len(self.all) - len(self.idle)

    def start(self, tokens):
        tokens, found = tuple(map(int, tokens)), []
        by_text = {block.text: block for block in self.all}
        for end in range(self.size, len(tokens), self.size):
            block = by_text.get(tokens[:end])
            if block is None:
                break
            found.append(self._lock(block))
        return self._add(Sequence(found, tokens[: len(found) * self.size])), len(found) * self.size
