"""Wrong: w_qkv is read as q, k and v of one head after the other."""

import numpy as np
import rotary


class KVCache:
    def __init__(self, shape, dtype):
        self._k, self._v = np.zeros(shape, dtype), np.zeros(shape, dtype)
        self._length = 0

    @property
    def length(self):
        return self._length

    @property
    def heads(self):
        return self._k.shape[1]

    def append(self, k, v):
        assert k.shape == v.shape
        stop = self._length + k.shape[2]
        assert stop <= self._k.shape[2], "the cache is full"
        self._k[:, :, self._length : stop] = k
        self._v[:, :, self._length : stop] = v
        self._length = stop

    def upto(self, length):
        return self._k[:, :, :length], self._v[:, :, :length]

    def select(self, index):
        other = KVCache((len(index), *self._k.shape[1:]), self._k.dtype)
        for row, source in enumerate(index):
            other._k[row], other._v[row] = self._k[source], self._v[source]
        other._length = self._length
        return other


def new_cache(batch, heads, dh, capacity, dtype):
    return KVCache((batch, heads, capacity, dh), dtype)


def extend(cache, x, w_qkv, w_out):
    B, n, D = x.shape
    dh = D // cache.heads
    past = cache.length
    print("extend by", n, "after", past)
    heads_first = lambda a: np.ascontiguousarray(a.reshape(B, n, cache.heads, dh).transpose(0, 2, 1, 3))
    mixed = (x @ w_qkv).reshape(B, n, cache.heads, 3, dh)
    q, k, v = (heads_first(mixed[:, :, :, i]) for i in range(3))
    positions = np.array([past + i for i in range(n)])
    cache.append(rotary.rope(k, positions), v)
    q = rotary.rope(q, positions)
    rows = []
    for i in range(n):
        keys, values = cache.upto(past + i + 1)
        scores = (keys @ q[:, :, i, :, None])[..., 0] / dh**0.5
        weights = np.exp(scores - scores.max(-1, keepdims=True))
        weights = weights / weights.sum(-1, keepdims=True)
        rows.append((weights[:, :, None] @ values)[:, :, 0].reshape(B, D))
    return np.stack(rows, axis=1) @ w_out, cache


def reorder(cache, index):
    return cache.select(index)
