"""Wrong: hidden tokens get a score of -10,000, and one that is seen may have less."""

import numpy as np
from rotary import rope


class Cache:
    """Keys, turned to their positions, and values of `count` tokens: (B, heads, capacity, dh)."""

    def __init__(self, keys, values, count):
        """Take the buffers over; slots from `count` on hold nothing yet."""
        self.keys = keys
        self.values = values
        self.count = count


def new_cache(batch, heads, dh, capacity, dtype):
    """Return an empty cache of `batch` sequences with room for `capacity` tokens each."""
    shape = (batch, heads, capacity, dh)
    return Cache(np.zeros(shape, dtype), np.zeros(shape, dtype), 0)


def extend(cache, x, w_qkv, w_out):
    """Attend from the next tokens to all tokens so far.

    Args:
        cache: what `new_cache`, `extend` or `reorder` returned; it is written to.
        x: (B, n, D), the next n >= 1 tokens of every sequence; D is heads * dh.
        w_qkv: (D, 3 * D), dtype of x: the columns of the queries, of the keys, of the values.
        w_out: (D, D), dtype of x.

    Returns:
        y: (B, n, D), dtype of x.
        cache: the cache, with the new tokens in it.
    """
    past, n = cache.count, x.shape[1]
    q, k, v = (_split(a, cache.keys.shape[1]) for a in np.split(x @ w_qkv, 3, axis=-1))
    q, k = _turned(q, k, past)
    keys, values = _stored(cache, k, v)
    return _merged(_attended(q, keys, values, _visible(past, n))) @ w_out, cache


def reorder(cache, index):
    """Return a cache of its own, whose row b continues row index[b]; index (B2,) integers."""
    # An index that is an array makes a copy, a repeated row included.
    return Cache(cache.keys[index], cache.values[index], cache.count)


def _split(a, heads):
    """Return (B, n, D) as (B, heads, n, dh)."""
    batch, n, width = a.shape
    return a.reshape(batch, n, heads, width // heads).transpose(0, 2, 1, 3)


def _merged(a):
    """Return (B, heads, n, dh) as (B, n, D)."""
    batch, heads, n, dh = a.shape
    return a.transpose(0, 2, 1, 3).reshape(batch, n, heads * dh)


def _turned(q, k, past):
    """Return queries and keys (B, heads, n, dh), turned to the positions of their tokens."""
    positions = np.arange(past, past + q.shape[2])
    return rope(q, positions), rope(k, positions)


def _stored(cache, k, v):
    """Write keys and values behind those that are there; return views of all of them."""
    end = cache.count + k.shape[2]
    cache.keys[:, :, cache.count : end] = k
    cache.values[:, :, cache.count : end] = v
    cache.count = end
    return cache.keys[:, :, :end], cache.values[:, :, :end]


def _visible(past, n):
    """Return (n, past + n) bool: which tokens each token of the piece sees."""
    return np.arange(past + n) <= past + np.arange(n)[:, None]


def _attended(q, keys, values, visible):
    """Return the values (B, heads, n, dh), averaged by the softmax of the scores."""
    scores = q @ keys.swapaxes(2, 3) * q.dtype.type(q.shape[3] ** -0.5)
    scores = np.where(visible, scores, -1e4)
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return weights / weights.sum(axis=-1, keepdims=True) @ values
