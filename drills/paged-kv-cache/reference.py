"""A pool of blocks that sequences share: copied on write, counted, and found again by their text.

Source: W. Kwon et al., "Efficient Memory Management for Large Language Model Serving with
PagedAttention", 2023, arXiv:2309.06180.
"""

from collections import deque

import numpy as np


class PagedCache:
    """Rows of many sequences in one pool of blocks.

    Attributes:
        pool: (blocks, size, width), the rows.
        holders: how many sequences hold each block.
        unused: the free blocks; the one that has been free longest comes first.
        tables: the blocks of each sequence, in order.
        tokens: the tokens of each sequence.
        filled: full blocks by the tokens that they end with, all those before included.
        prefix: of each block, the key that it has there.
    """

    def __init__(self, blocks: int, size: int, width: int) -> None:
        """Make a pool of `blocks` blocks, of `size` rows of `width` numbers each."""
        self.size = size
        self.pool = np.zeros((blocks, size, width))
        self.holders = [0] * blocks
        self.unused = deque(range(blocks))
        self.tables: dict[int, list[int]] = {}
        self.tokens: dict[int, list[int]] = {}
        self.filled: dict[tuple[int, ...], list[int]] = {}
        self.prefix: dict[int, tuple[int, ...]] = {}
        self.begun = 0

    def new(self) -> int:
        """Return the number of a new, empty sequence."""
        return self._begin([], [])

    def fork(self, seq: int) -> int:
        """Return the number of a sequence that goes on from here by itself."""
        for block in self.tables[seq]:
            self._hold(block)
        return self._begin(list(self.tables[seq]), list(self.tokens[seq]))

    def append(self, seq: int, tokens: list[int], rows: np.ndarray) -> None:
        """Add rows (n, width) of as many tokens; nothing changes if there is no room for all."""
        line = self.tokens[seq]
        copies = self._copies(seq, len(rows))
        self._make_room(len(line), len(rows), copies)
        if copies:
            self._copy_last(seq)
        self._write(seq, tokens, rows)

    def read(self, seq: int) -> np.ndarray:
        """Return all rows of a sequence, an array of its own."""
        rows = self.pool[self.tables[seq]]
        return rows.reshape(-1, rows.shape[2])[: len(self.tokens[seq])]

    def free(self, seq: int) -> None:
        """End a sequence; its blocks are free if no other sequence holds them."""
        del self.tokens[seq]
        for block in self._order_of_release(self.tables.pop(seq)):
            self._drop(block)

    def start(self, tokens: list[int]) -> tuple[int, int]:
        """Return a sequence that begins with the blocks found, and how many rows they hold."""
        table: list[int] = []
        for n in self._candidates(tokens):
            found = self._found(tokens, n)
            if found is None:
                break
            table.append(found)
        for block in table:
            self._hold_found(block)
        n = len(table) * self.size
        return self._begin(table, [int(t) for t in tokens[:n]]), n

    def in_use(self) -> int:
        """Return how many blocks at least one sequence holds."""
        return len(self.holders) - len(self.unused)

    def _begin(self, table: list[int], tokens: list[int]) -> int:
        """Return the number of a sequence, which is never used again."""
        seq, self.begun = self.begun, self.begun + 1
        self.tables[seq], self.tokens[seq] = table, tokens
        return seq

    def _take(self) -> int:
        """Return the block that has been free longest, and forget what it was filled for."""
        block = self.unused.popleft()
        self._forget(block)
        self.holders[block] = 1
        return block

    def _hold(self, block: int) -> None:
        self.holders[block] += 1

    def _hold_found(self, block: int) -> None:
        """Hold a block that may have been free."""
        if self.holders[block] == 0:
            self.unused.remove(block)
        self._hold(block)

    def _drop(self, block: int) -> None:
        self.holders[block] -= 1
        if self.holders[block] == 0:
            self.unused.append(block)

    def _order_of_release(self, table: list[int]) -> list[int]:
        """Return the blocks of a sequence, the last one first: the others are found without it."""
        return table[::-1]

    def _copies(self, seq: int, n: int) -> bool:
        """Whether n further rows begin in a block that another sequence holds, too."""
        part = len(self.tokens[seq]) % self.size
        return n > 0 and part > 0 and self.holders[self.tables[seq][-1]] > 1

    def _make_room(self, held: int, n: int, copies: bool) -> None:
        """Raise MemoryError if n rows after those that are held take more blocks than are free."""
        if self._blocks(held + n) - self._blocks(held) + copies > len(self.unused):
            raise MemoryError(f"{len(self.unused)} blocks are free, which is too few")

    def _blocks(self, rows: int) -> int:
        return -(-rows // self.size)

    def _copy_last(self, seq: int) -> None:
        """Give a sequence its own copy of its last block."""
        table = self.tables[seq]
        copy = self._take()
        self.pool[copy] = self.pool[table[-1]]
        self.holders[table[-1]] -= 1  # to 1 at least
        table[-1] = copy

    def _write(self, seq: int, tokens: list[int], rows: np.ndarray) -> None:
        table, line = self.tables[seq], self.tokens[seq]
        for token, row in zip(tokens, rows, strict=True):
            at = len(line) % self.size
            if at == 0:
                table.append(self._take())
            self.pool[table[-1], at] = row
            line.append(int(token))
            if len(line) % self.size == 0:
                self._remember(table[-1], self._key(line, len(line)))

    def _key(self, tokens: list[int], n: int) -> tuple[int, ...]:
        """Return what a block that ends with token n was filled for: rows depend on all of it."""
        return tuple(int(t) for t in tokens[:n])

    def _remember(self, block: int, key: tuple[int, ...]) -> None:
        self.prefix[block] = key
        self.filled.setdefault(key, []).append(block)

    def _forget(self, block: int) -> None:
        key = self.prefix.pop(block, None)
        if key is not None:
            self.filled[key].remove(block)
            if not self.filled[key]:
                del self.filled[key]

    def _candidates(self, tokens: list[int]) -> range:
        """Return the ends of all blocks that leave over a token at least."""
        return range(self.size, len(tokens), self.size)

    def _found(self, tokens: list[int], n: int) -> int | None:
        """Return a block that holds the rows up to token n, of several equal ones any."""
        return self.filled.get(self._key(tokens, n), [None])[0]
