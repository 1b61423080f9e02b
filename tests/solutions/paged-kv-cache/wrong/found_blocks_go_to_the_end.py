"""Wrong: a block that is found free stays in the queue, at its end."""

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
                self.free_block_queue.append(block)
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
