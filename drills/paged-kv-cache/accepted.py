# %% starter-repaired
"""The starter with what it lacks; blocks are found by all tokens up to their end."""

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
        table, line = self.tables[seq], self.lines[seq]
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

# %% counts-from-the-tables
"""No counts of holders: who holds a block is read off the tables. Free blocks have time stamps."""

import numpy as np

class PagedCache:
    def __init__(self, blocks, size, width):
        self.k = np.zeros((blocks * size, width))
        self.size = size
        self.stamp = list(range(-blocks, 0))
        self.clock = 0
        self.t = {}
        self.name = [None] * blocks
        self.next = 0

    def _held(self):
        return [b for _, bl in self.t.values() for b in bl]

    def _idle(self):
        held = set(self._held())
        free = (b for b in range(len(self.stamp)) if b not in held)
        return sorted(free, key=lambda b: self.stamp[b])

    def new(self):
        self.next += 1
        self.t[self.next] = ((), [])
        return self.next

    def fork(self, seq):
        line, bl = self.t[seq]
        other = self.new()
        self.t[other] = (line, list(bl))
        return other

    def append(self, seq, tokens, rows):
        line, bl = self.t[seq]
        n, s = len(line), self.size
        line = line + tuple(int(t) for t in tokens)
        keep, old = list(bl), None
        if n % s and len(tokens) and self._held().count(bl[-1]) > 1:
            old = keep.pop()
        need = -(-len(line) // s) - len(keep)
        idle = self._idle()
        if need > len(idle):
            raise MemoryError()
        for b in idle[:need]:
            self.name[b] = None
        if old is not None:
            self.k[idle[0] * s : idle[0] * s + s] = self.k[old * s : old * s + s]
        new = keep + idle[:need]
        for i in range(n, len(line)):
            self.k[new[i // s] * s + i % s] = rows[i - n]
        for j in range(n // s, len(line) // s):
            self.name[new[j]] = line[: (j + 1) * s]
        self.t[seq] = (line, new)

    def read(self, seq):
        line, bl = self.t[seq]
        i = np.arange(len(line))
        if not len(line):
            return self.k[:0].copy()
        return self.k[np.array(bl, int)[i // self.size] * self.size + i % self.size]

    def free(self, seq):
        _, bl = self.t.pop(seq)
        held = set(self._held())
        for b in reversed(bl):
            if b not in held:
                self.clock += 1
                self.stamp[b] = self.clock

    def in_use(self):
        return len(set(self._held()))

    def start(self, tokens):
        tokens = tuple(int(t) for t in tokens)
        bl = []
        while True:
            n = (len(bl) + 1) * self.size
            if n >= len(tokens) or tokens[:n] not in self.name:
                break
            bl.append(self.name.index(tokens[:n]))
        other = self.new()
        self.t[other] = (tokens[: len(bl) * self.size], bl)
        return other, len(bl) * self.size

# %% objects-and-an-ordered-dict
"""Blocks are objects; idle ones wait in an ordered dict, and each knows the text that it ends."""

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
        return self._add(Sequence([self._lock(b) for b in parent.blocks], parent.text))

    def append(self, seq, tokens, rows):
        own = self.live[seq]
        tokens = tuple(map(int, tokens))
        inside = len(own.text) % self.size
        divide = bool(tokens) and inside != 0 and own.blocks[-1].users != 1
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

# %% numbered-beginnings
"""Every beginning of a text has a number, given by its parent's number and its tokens."""

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
        taken = idle[np.argsort(self.freed_at[idle], kind="stable")][:how_many]
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

# %% tree-of-prefixes
"""A tree whose nodes are beginnings; a node has the blocks that hold its last rows."""

import numpy as np

class Node:
    def __init__(self):
        self.children, self.blocks = {}, set()

class PagedCache:
    def __init__(self, blocks, size, width):
        self.size = size
        self.rows = [[None] * size for _ in range(blocks)]
        self.width = width
        self.count = {b: 0 for b in range(blocks)}
        self.queue = list(range(blocks))
        self.root, self.node_of = Node(), {}
        self.table, self.text, self.fresh = {}, {}, 0

    def _node(self, tokens):
        node = self.root
        for i in range(0, len(tokens), self.size):
            node = node.children.setdefault(tuple(tokens[i : i + self.size]), Node())
        return node

    def _pop(self):
        block = self.queue.pop(0)
        if block in self.node_of:
            self.node_of.pop(block).blocks.discard(block)
        self.count[block] = 1
        return block

    def _register(self, tokens, table):
        name = self.fresh
        self.fresh += 1
        self.text[name], self.table[name] = list(tokens), list(table)
        return name

    def new(self):
        return self._register([], [])

    def fork(self, seq):
        for block in self.table[seq]:
            self.count[block] += 1
        return self._register(self.text[seq], self.table[seq])

    def append(self, seq, tokens, rows):
        text, table = self.text[seq], self.table[seq]
        used = len(text) % self.size
        alone = used == 0 or self.count[table[-1]] == 1
        room = (self.size - used) % self.size
        new = max(0, len(rows) - room + self.size - 1) // self.size
        if new + (len(rows) > 0 and not alone) > len(self.queue):
            raise MemoryError("no block")
        for token, row in zip(tokens, rows):
            used = len(text) % self.size
            if used == 0:
                table.append(self._pop())
            elif self.count[table[-1]] > 1:
                copy = self._pop()
                self.rows[copy] = list(self.rows[table[-1]])
                self.count[table[-1]] -= 1
                table[-1] = copy
            self.rows[table[-1]][used] = np.array(row, float)
            text.append(int(token))
            if used == self.size - 1:
                node = self._node(text)
                node.blocks.add(table[-1])
                self.node_of[table[-1]] = node

    def read(self, seq):
        found = [row for block in self.table[seq] for row in self.rows[block]]
        return np.array(found[: len(self.text[seq])], float).reshape(-1, self.width)

    def free(self, seq):
        table = self.table.pop(seq)
        self.text.pop(seq)
        while table:
            block = table.pop()
            self.count[block] -= 1
            if self.count[block] == 0:
                self.queue.append(block)

    def in_use(self):
        return len(self.count) - len(self.queue)

    def start(self, tokens):
        node, table, n = self.root, [], 0
        while n + self.size < len(tokens):
            node = node.children.get(tuple(int(t) for t in tokens[n : n + self.size]))
            if node is None or not node.blocks:
                break
            table.append(min(node.blocks))
            n += self.size
        for block in table:
            if self.count[block] == 0:
                self.queue.remove(block)
            self.count[block] += 1
        return self._register([int(t) for t in tokens[:n]], table), n

# %% as-in-serving-engines
"""A block manager and a pool of its own, as in serving engines, with references in the blocks."""

import numpy as np

class KVCacheBlock:
    def __init__(self, block_id):
        self.block_id, self.ref_cnt, self.block_hash = block_id, 0, None

class BlockPool:
    def __init__(self, num_blocks):
        self.blocks = [KVCacheBlock(i) for i in range(num_blocks)]
        self.free_block_queue = list(self.blocks)
        self.cached_block_hash_to_block = {}

    def get_new_blocks(self, n):
        ret, self.free_block_queue = self.free_block_queue[:n], self.free_block_queue[n:]
        for block in ret:
            self._maybe_evict_cached_block(block)
            block.ref_cnt += 1
        return ret

    def _maybe_evict_cached_block(self, block):
        if block.block_hash is not None:
            self.cached_block_hash_to_block[block.block_hash].pop(block.block_id)
            block.block_hash = None

    def touch(self, blocks):
        for block in blocks:
            if block.ref_cnt == 0:
                self.free_block_queue.remove(block)
            block.ref_cnt += 1

    def free_blocks(self, ordered_blocks):
        for block in ordered_blocks:
            block.ref_cnt -= 1
            if block.ref_cnt == 0:
                self.free_block_queue.append(block)

    def get_cached_block(self, block_hash):
        found = self.cached_block_hash_to_block.get(block_hash)
        return next(iter(found.values())) if found else None

    def cache(self, block, block_hash):
        block.block_hash = block_hash
        self.cached_block_hash_to_block.setdefault(block_hash, {})[block.block_id] = block

class PagedCache:
    def __init__(self, blocks, size, width):
        self.block_size = size
        self.kv = np.zeros((blocks, size, width))
        self.pool = BlockPool(blocks)
        self.req_to_blocks, self.req_to_tokens = {}, {}
        self.request_counter = 0

    def _request(self, blocks, tokens):
        self.request_counter += 1
        self.req_to_blocks[self.request_counter] = blocks
        self.req_to_tokens[self.request_counter] = tokens
        return self.request_counter

    def new(self):
        return self._request([], [])

    def fork(self, seq):
        blocks = self.req_to_blocks[seq]
        self.pool.touch(blocks)
        return self._request(list(blocks), list(self.req_to_tokens[seq]))

    def append(self, seq, tokens, rows):
        blocks, known = self.req_to_blocks[seq], self.req_to_tokens[seq]
        num_new = len(tokens)
        if not num_new:
            return
        offset = len(known) % self.block_size
        need_cow = offset > 0 and blocks[-1].ref_cnt > 1
        num_required = (len(known) + num_new + self.block_size - 1) // self.block_size
        num_to_allocate = num_required - len(blocks)
        if num_to_allocate + need_cow > len(self.pool.free_block_queue):
            raise MemoryError("preempt somebody")
        if need_cow:
            (dst,) = self.pool.get_new_blocks(1)
            self.kv[dst.block_id, :offset] = self.kv[blocks[-1].block_id, :offset]
            self.pool.free_blocks([blocks[-1]])
            blocks[-1] = dst
        blocks.extend(self.pool.get_new_blocks(num_to_allocate))
        for i in range(num_new):
            slot = len(known) + i
            self.kv[blocks[slot // self.block_size].block_id, slot % self.block_size] = rows[i]
        first = len(known) // self.block_size
        known.extend(int(t) for t in tokens)
        for i in range(first, len(known) // self.block_size):
            self.pool.cache(blocks[i], tuple(known[: (i + 1) * self.block_size]))

    def read(self, seq):
        n = len(self.req_to_tokens[seq])
        ids = [block.block_id for block in self.req_to_blocks[seq]]
        return np.take(self.kv, ids, axis=0).reshape(-1, self.kv.shape[-1])[:n]

    def free(self, seq):
        self.pool.free_blocks(reversed(self.req_to_blocks.pop(seq)))
        self.req_to_tokens.pop(seq)

    def in_use(self):
        return len(self.pool.blocks) - len(self.pool.free_block_queue)

    def start(self, tokens):
        computed = []
        max_cache_hit_length = len(tokens) - 1
        for i in range(max_cache_hit_length // self.block_size):
            key = tuple(int(t) for t in tokens[: (i + 1) * self.block_size])
            if (block := self.pool.get_cached_block(key)) is None:
                break
            computed.append(block)
        self.pool.touch(computed)
        n = len(computed) * self.block_size
        return self._request(computed, [int(t) for t in tokens[:n]]), n

# %% undone-if-it-does-not-fit
"""An append goes row by row and is taken back as a whole where no block is left."""

import numpy as np

class PagedCache:
    def __init__(self, blocks, size, width):
        self.size = size
        self.store = {b: [] for b in range(blocks)}
        self.width = width
        self.idle = tuple(range(blocks))
        self.held = {}
        self.label = {}
        self.ever = 0

    def new(self):
        self.ever += 1
        self.held[self.ever] = ((), ())
        return self.ever

    def users(self, block):
        return sum(block in table for table, _ in self.held.values())

    def _next(self):
        if not self.idle:
            raise MemoryError
        block, *rest = self.idle
        self.idle = tuple(rest)
        self.label.pop(block, None)
        return block

    def append(self, seq, tokens, rows):
        self.held[seq]
        before = dict(self.store), self.idle, dict(self.held), dict(self.label)
        try:
            for token, row in zip(tokens, rows):
                self._one(seq, int(token), tuple(float(x) for x in row))
        except MemoryError:
            self.store, self.idle, self.held, self.label = before
            raise

    def _one(self, seq, token, row):
        table, text = self.held[seq]
        place = len(text) % self.size
        if place == 0:
            table = (*table, self._next())
            self.store[table[-1]] = []
        elif self.users(table[-1]) > 1:
            old = table[-1]
            table = (*table[:-1], self._next())
            self.store[table[-1]] = self.store[old][:place]
        text = (*text, token)
        self.store[table[-1]] = [*self.store[table[-1]][:place], row]
        self.held[seq] = table, text
        if place == self.size - 1:
            self.label[table[-1]] = text

    def fork(self, seq):
        state = self.held[seq]
        other = self.new()
        self.held[other] = state
        return other

    def read(self, seq):
        table, text = self.held[seq]
        rows = [row for block in table for row in self.store[block]][: len(text)]
        return np.array(rows, float).reshape(len(text), self.width)

    def free(self, seq):
        table, _ = self.held.pop(seq)
        self.idle += tuple(b for b in table[::-1] if not self.users(b))

    def in_use(self):
        return len({b for table, _ in self.held.values() for b in table})

    def start(self, tokens):
        table, text = [], ()
        for token in list(tokens)[:-1]:
            text += (int(token),)
            if len(text) % self.size == 0:
                same = [b for b, label in self.label.items() if label == text]
                if not same:
                    break
                table.append(same[0])
        other = self.new()
        n = len(table) * self.size
        self.held[other] = tuple(table), tuple(int(t) for t in list(tokens)[:n])
        self.idle = tuple(b for b in self.idle if b not in table)
        return other, n

# %% closures
"""Functions over shared dictionaries, bound to the object when it is made."""

import numpy as np

class PagedCache:
    def __init__(self, blocks, size, width):
        pool = np.zeros((blocks, size, width))
        waiting, holders, sequences, known = list(range(blocks)), {}, {}, {}
        made = []

        def begin(table, text):
            made.append(None)
            sequences[len(made)] = [table, text]
            return len(made)

        def take():
            block = waiting.pop(0)
            for key in [key for key, where in known.items() if block in where]:
                known[key].remove(block)
            holders[block] = 1
            return block

        def append(seq, tokens, rows):
            table, text = sequences[seq]
            n, more = len(text), len(rows)
            shares = more and n % size and holders[table[-1]] > 1
            wants = sum(1 for i in range(n, n + more) if i % size == 0) + (1 if shares else 0)
            if wants > len(waiting):
                raise MemoryError(wants)
            if shares:
                block = take()
                pool[block] = pool[table[-1]]
                holders[table[-1]] -= 1
                table[-1] = block
            for i, (token, row) in enumerate(zip(tokens, rows), n):
                if i % size == 0:
                    table.append(take())
                pool[table[i // size], i % size] = row
                text += (int(token),)
                if i % size == size - 1:
                    known.setdefault(text, []).append(table[-1])
            sequences[seq][1] = text

        def fork(seq):
            table, text = sequences[seq]
            for block in table:
                holders[block] += 1
            return begin(list(table), text)

        def read(seq):
            table, text = sequences[seq]
            flat = [pool[block, i] for block in table for i in range(size)]
            return np.stack(flat[: len(text)]) if text else np.zeros((0, width))

        def free(seq):
            table, _ = sequences.pop(seq)
            for block in table[::-1]:
                holders[block] -= 1
                if holders[block] == 0:
                    waiting.append(block)

        def start(tokens):
            tokens, table = tuple(int(t) for t in tokens), []
            while (len(table) + 1) * size < len(tokens):
                places = known.get(tokens[: (len(table) + 1) * size])
                if not places:
                    break
                table.append(places[-1])
            for block in table:
                if not holders[block]:
                    waiting.remove(block)
                holders[block] += 1
            return begin(table, tokens[: len(table) * size]), len(table) * size

        self.new = lambda: begin([], ())
        self.append, self.fork, self.read, self.free, self.start = append, fork, read, free, start
        self.in_use = lambda: blocks - len(waiting)

# %% copy-on-write-only
# part: 1
"""What a colleague would merge when no more is asked."""

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
        return rows.reshape(-1, rows.shape[2])[: self.lengths[seq]]

    def free(self, seq):
        raise NotImplementedError

    def in_use(self):
        return len(self.holders) - len(self.unused)
