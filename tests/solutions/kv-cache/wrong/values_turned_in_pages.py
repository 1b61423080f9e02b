"""Wrong: values are turned like keys."""

import numpy as np
from rotary import rope

PAGE = 16


class Table:
    def __init__(self, rows, heads, dh, capacity, dtype, length):
        self.rows, self.heads, self.dh = rows, heads, dh
        self.capacity, self.dtype, self.length = capacity, dtype, length

    def append(self, row, kv):
        """kv (2, heads, n, dh)."""
        at = self.length
        for token in range(kv.shape[2]):
            if at % PAGE == 0:
                room = min(PAGE, self.capacity - at)
                self.rows[row].append(np.zeros((2, self.heads, room, self.dh), self.dtype))
            self.rows[row][-1][:, :, at % PAGE] = kv[:, :, token]
            at += 1


def new_cache(batch, heads, dh, capacity, dtype):
    return Table([[] for _ in range(batch)], heads, dh, capacity, dtype, 0)


def extend(cache, x, w_qkv, w_out):
    batch, n, width = x.shape
    at = np.arange(cache.length, cache.length + n)
    qkv = (x @ w_qkv).reshape(batch, n, 3, cache.heads, cache.dh).transpose(2, 0, 3, 1, 4)
    q, k = rope(qkv[0], at), rope(qkv[1], at)
    y = np.empty((batch, n, width), x.dtype)
    for row in range(batch):
        cache.append(row, np.stack([k[row], rope(qkv[2], at)[row]]))
        pages = cache.rows[row]
        scores = np.concatenate([q[row] @ page[0].swapaxes(1, 2) for page in pages], axis=2)
        scores *= 1 / cache.dh**0.5
        scores = np.where(np.arange(scores.shape[2]) > at[:, None], -np.inf, scores)
        weights = np.exp(scores - scores.max(2, keepdims=True))
        weights /= weights.sum(2, keepdims=True)
        parts = np.split(weights, range(PAGE, weights.shape[2], PAGE), axis=2)
        mixed = sum(part @ page[1] for part, page in zip(parts, pages))
        y[row] = mixed.swapaxes(0, 1).reshape(n, width) @ w_out
    cache.length += n
    return y, cache


def reorder(cache, index):
    full = cache.length // PAGE
    rows = []
    for source in index:
        pages = cache.rows[source]
        rows.append(pages[:full] + [page.copy() for page in pages[full:]])
    return Table(rows, cache.heads, cache.dh, cache.capacity, cache.dtype, cache.length)
