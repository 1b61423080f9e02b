# %% shares-the-half-full-block
# killed_by: rows
"""Two sequences write their next rows to the same places of the block that was not full at the
fork, and the later one wins. Usually only full blocks were thought of, which nobody writes to
again. A sequence that is about to write to a block with another holder needs a copy of it first."""

class PagedCache(PagedCache):
    def _copies(self, seq, n):
        return False

# %% new-block-left-empty
# killed_by: rows
"""A sequence that writes to a shared block gets one of its own, without the rows that the shared
one held: it reads zeros, or what was there before. Usually the table was changed and the data
forgotten. Copy the rows so far, then write."""

class PagedCache(PagedCache):
    def _copy_last(self, seq):
        table = self.tables[seq]
        own = self._take()
        self.holders[table[-1]] -= 1
        table[-1] = own

# %% table-shared-by-fork
# killed_by: rows
"""After a fork both sequences have one table, the same list. A block that one of them takes is in
the text of the other. Copy the table; the blocks are shared all the same."""

class PagedCache(PagedCache):
    def fork(self, seq):
        for block in self.tables[seq]:
            self._hold(block)
        return self._begin(self.tables[seq], list(self.tokens[seq]))

# %% read-is-a-view
# killed_by: rows
"""What read returns is a view of the pool where a sequence has a single block: whoever changes it
changes the cache, and rows written later show in it. Return a copy."""

_gathered = PagedCache.read

class PagedCache(PagedCache):
    def read(self, seq):
        table = self.tables[seq]
        if len(table) == 1:
            return self.pool[table[0], : len(self.tokens[seq])]
        return _gathered(self, seq)

# %% old-block-not-released
# killed_by: blocks
"""Whoever copies a shared block is still counted as a holder of the old one. The next writer then
copies as well, although it is alone by then, and the old block never becomes free. Usually a copy
was seen as taking a block and not as giving one up."""

class PagedCache(PagedCache):
    def _copy_last(self, seq):
        table = self.tables[seq]
        copy = self._take()
        self.pool[copy] = self.pool[table[-1]]
        table[-1] = copy

# %% copies-the-last-block-at-fork
# killed_by: blocks
"""You copy the last block when a sequence is forked, whether or not anybody goes on to write to it.
All rows are right, and four samples of a prompt hold four last blocks before the first of them has
a word. Copy when a sequence writes to a block that another one holds."""

class PagedCache(PagedCache):
    def fork(self, seq):
        other = super().fork(seq)
        if self._copies(other, 1):
            self._copy_last(other)
        return other

# %% copies-every-block-at-fork
# killed_by: blocks
"""As many blocks are in use as if nothing were shared. Usually fork copies all blocks, or in_use
counts a block once for each of its holders. A fork takes no block: the table is copied, holders are
counted, and a block that several sequences hold is one block."""

class PagedCache(PagedCache):
    def fork(self, seq):
        table = []
        for block in self.tables[seq]:
            table.append(self._take())
            self.pool[table[-1]] = self.pool[block]
            if block in self.prefix:
                self._remember(table[-1], self.prefix[block])
        return self._begin(table, list(self.tokens[seq]))

# %% full-block-copied-too
# killed_by: blocks
"""A sequence whose last block is full and shared copies that block before it takes the next one.
Nobody writes to a full block, so nobody needs a copy of it. Copy only a block that is not full."""

class PagedCache(PagedCache):
    def _copies(self, seq, n):
        table = self.tables[seq]
        return n > 0 and len(table) > 0 and self.holders[table[-1]] > 1

    def _copy_last(self, seq):
        key = self.prefix.get(self.tables[seq][-1])
        super()._copy_last(seq)
        if key is not None:
            self._remember(self.tables[seq][-1], key)

# %% frees-what-others-hold
# killed_by: free
"""free gives back all blocks of a sequence, shared ones too. The next append overwrites what a fork
still reads. Usually the count goes down and nobody looks at it. Give back the blocks whose count
has reached 0."""

class PagedCache(PagedCache):
    def _drop(self, block):
        self.holders[block] -= 1
        if block not in self.unused:
            self.unused.append(block)

# %% frees-what-others-hold / twice
class PagedCache(PagedCache):
    def _drop(self, block):
        self.holders[block] -= 1
        self.unused.append(block)

    def _hold_found(self, block):
        if block in self.unused:
            self.unused.remove(block)
        self._hold(block)

# %% never-gives-back
# killed_by: free
"""The blocks of a sequence that ended stay in use, and the pool runs empty. Usually the table was
deleted, and the blocks in it were not. A block without a holder is free again."""

class PagedCache(PagedCache):
    def _drop(self, block):
        self.holders[block] -= 1

    def _hold_found(self, block):
        self._hold(block)

# %% half-an-append
# killed_by: full
"""That no block is left is noticed in the middle of an append, when some of its rows have been
written. Usually blocks are taken as rows arrive. The caller tries again later, and these rows are
there twice. Work out what an append needs before it changes anything."""

class PagedCache(PagedCache):
    def _make_room(self, held, n, copies):
        pass

    def _take(self):
        if not self.unused:
            raise MemoryError("no block is free")
        return super()._take()

# %% half-an-append / pop-from-empty
class PagedCache(PagedCache):
    def _make_room(self, held, n, copies):
        pass

# %% copy-not-in-the-budget
# killed_by: full
"""You count the new blocks of an append, and not the one that the copy of a shared block takes.
With as many free as were counted, the append stops after the copy, or halfway. Usually the budget
is older than the copy. Add 1 if the last block is copied."""

class PagedCache(PagedCache):
    def _make_room(self, held, n, copies):
        super()._make_room(held, n, False)

    def _take(self):
        if not self.unused:
            raise MemoryError("no block is free")
        return super()._take()

# %% room-in-last-block-ignored
# killed_by: full
"""You ask for as many blocks as the new rows would fill by themselves. Rows that still fit in the
last block need none, so appends are refused that have room. Compare the blocks of all rows before
and after."""

class PagedCache(PagedCache):
    def _make_room(self, held, n, copies):
        super()._make_room(0, n, copies)

# %% freed-twice-silently
# killed_by: errors
"""free accepts a number that was freed before. Whoever frees a sequence twice has lost track of it,
and next time the number may be another's: say so. It raises KeyError, as the other methods do."""

class PagedCache(PagedCache):
    def free(self, seq):
        if seq in self.tables:
            super().free(seq)

# %% numbers-used-again
# killed_by: errors
"""A new sequence gets the number of one that was freed. Whoever still has the old number reads,
writes or frees the text of another. Numbers of sequences are never used twice."""

class PagedCache(PagedCache):
    def _begin(self, table, tokens):
        seq = next(n for n in range(len(self.tables) + 1) if n not in self.tables)
        self.tables[seq], self.tokens[seq] = table, tokens
        return seq

# %% forgotten-when-freed
# killed_by: readmit
"""What a block was filled for is forgotten as soon as nobody holds it, so that a sequence that
comes back finds nothing. Usually freeing and overwriting were taken for one event. A free block
keeps its rows until it is taken: forget it then."""

class PagedCache(PagedCache):
    def _drop(self, block):
        super()._drop(block)
        if self.holders[block] == 0:
            self._forget(block)

# %% first-block-given-back-first
# killed_by: readmit
"""free gives back the blocks of a sequence from the first to the last, so that its first block is
the next one to be taken. Without it nothing behind it can be found. Usually the table is just
walked in its order. Release the last block first."""

class PagedCache(PagedCache):
    def _order_of_release(self, table):
        return table

# %% newest-taken-first
# killed_by: readmit
"""The block that was freed last is taken first, as from a stack. What was free for hours stays, and
what has just been preempted is overwritten. Take the block that has been free longest."""

class PagedCache(PagedCache):
    def _take(self):
        self.unused.rotate(1)
        return super()._take()

# %% whole-prompt-found
# killed_by: readmit
"""start finds all tokens of a text that ends with a block. Then no token is left to be fed, and
there are no logits to go on from. Leave over one token at least, which means its block."""

class PagedCache(PagedCache):
    def _candidates(self, tokens):
        return range(self.size, len(tokens) + 1, self.size)

# %% found-but-not-taken
# killed_by: [readmit, kept]
"""A free block that start has found is held, and is still among the free ones: in_use does not
count it, and the next append overwrites it. Usually only the count of holders is raised. Take it
off the list."""

class PagedCache(PagedCache):
    def _hold_found(self, block):
        self._hold(block)

# %% found-by-tokens-alone
# killed_by: found
"""You look up a block by its own tokens. Usually it was taken for a cache of contents, as of files.
Keys and values depend on everything before them, so equal tokens after another beginning have other
rows. What a block is found by has to include all tokens before it."""

class PagedCache(PagedCache):
    def _key(self, tokens, n):
        return tuple(int(t) for t in tokens[n - self.size : n])

# %% found-after-reuse
# killed_by: found
"""A block is still found by its old tokens after it was taken and written to for others. Usually it
is registered when it becomes full, and never removed. Forget what it was filled for when it is
taken."""

class PagedCache(PagedCache):
    def _forget(self, block):
        pass

# %% parent-by-block-number
# killed_by: found
"""A block is found by its tokens and the number of the block before it. Two sequences that computed
the same beginning by themselves have it in two blocks; start finds one of them, and what follows
the other is out of reach. Name the beginning by its tokens, not by the place where it lies."""

class PagedCache(PagedCache):
    def _write(self, seq, tokens, rows):
        self.table = self.tables[seq]
        super()._write(seq, tokens, rows)

    def _remember(self, block, key):
        before = self.table[-2] if len(self.table) > 1 else -1
        super()._remember(block, (before, *key[-self.size :]))

    def start(self, tokens):
        self.table = []
        return super().start(tokens)

    def _found(self, tokens, n):
        before = self.table[-1] if self.table else -1
        key = (before, *(int(t) for t in tokens[n - self.size : n]))
        found = self.filled.get(key, [None])[0]
        self.table.append(found)
        return found

# %% one-block-for-each-key
# killed_by: found
"""Where two blocks were filled for the same tokens only the first is registered. When that one is
taken the other is out of reach, although it is full and right. Keep all of them, or register the
other when one is taken."""

class PagedCache(PagedCache):
    def _remember(self, block, key):
        if key not in self.filled:
            super()._remember(block, key)

# %% one-block-for-each-key / last
class PagedCache(PagedCache):
    def _remember(self, block, key):
        for other in self.filled.get(key, [])[:]:
            self._forget(other)
        super()._remember(block, key)

# %% copies-a-reference
# killed_by: rows
"""Before a write to a shared block you take a new block, and it has the very rows of the old one: a
sequence goes on writing into rows that another one reads. Usually a list entry is assigned, which
copies a reference. Copy the numbers: pool[new] = pool[old] of one array, or rows.copy()."""

class PagedCache(PagedCache):
    def __init__(self, blocks, size, width):
        super().__init__(blocks, size, width)
        self.pool = [np.zeros((size, width)) for _ in range(blocks)]

    def read(self, seq):
        blocks = [self.pool[block] for block in self.tables[seq]]
        rows = np.concatenate([np.zeros((0, self.pool[0].shape[1])), *blocks])
        return rows[: len(self.tokens[seq])]

    def _write(self, seq, tokens, rows):
        table, line = self.tables[seq], self.tokens[seq]
        for token, row in zip(tokens, rows, strict=True):
            at = len(line) % self.size
            if at == 0:
                table.append(self._take())
            self.pool[table[-1]][at] = row
            line.append(int(token))
            if len(line) % self.size == 0:
                self._remember(table[-1], self._key(line, len(line)))
