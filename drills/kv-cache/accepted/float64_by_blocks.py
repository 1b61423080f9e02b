"""Style: float64 inside, for 32 slots of one head at a time; results are cast at the end."""

import numpy as np
from rotary import rope

BLOCK = 32


class Store:
    def __init__(self, kv, length=0):
        self.kv, self.length = kv, length

    def put(self, k, v):
        n = k.shape[2]
        self.kv[0, :, :, self.length : self.length + n] = k
        self.kv[1, :, :, self.length : self.length + n] = v
        self.length += n

    def blocks(self, row, head):
        for start in range(0, self.length, BLOCK):
            stop = min(start + BLOCK, self.length)
            k, v = self.kv[:, row, head, start:stop].astype(np.float64)
            yield start, k, v


def new_cache(batch, heads, dh, capacity, dtype):
    return Store(np.zeros((2, batch, heads, capacity, dh), dtype))


def extend(cache, x, w_qkv, w_out):
    b, n, d = x.shape
    heads, dh = cache.kv.shape[2], cache.kv.shape[4]
    past = cache.length
    wide = x.astype(np.float64) @ w_qkv.astype(np.float64)
    q, k, v = wide.reshape(b, n, 3, heads, dh).transpose(2, 0, 3, 1, 4)
    q, k = rope(q, past + np.arange(n)), rope(k, past + np.arange(n))
    cache.put(k, v)
    out = np.empty((b, n, d))
    for row in range(b):
        for head in range(heads):
            top, total, y = np.full(n, -np.inf), np.zeros(n), np.zeros((n, dh))
            for start, keys, values in cache.blocks(row, head):
                s = q[row, head] @ keys.T / np.sqrt(dh)
                s[start + np.arange(len(keys)) > past + np.arange(n)[:, None]] = -np.inf
                higher = np.maximum(top, s.max(1))
                e, shrink = np.exp(s - higher[:, None]), np.exp(top - higher)
                top, total, y = higher, total * shrink + e.sum(1), y * shrink[:, None] + e @ values
            out[row, :, head * dh : (head + 1) * dh] = y / total[:, None]
    return (out @ w_out.astype(np.float64)).astype(x.dtype), cache


def reorder(cache, index):
    return Store(cache.kv[:, index], cache.length)
