"""As in small inference engines: buffers of the largest size, and a triangle kept beside them."""

import numpy as np
from rotary import rope


class KVCache:
    def __init__(self, max_batch_size, max_seq_length, n_heads, head_dim, dtype):
        cache_shape = (max_batch_size, n_heads, max_seq_length, head_dim)
        self.k_cache = np.zeros(cache_shape, dtype=dtype)
        self.v_cache = np.zeros(cache_shape, dtype=dtype)
        self.causal_mask = np.tril(np.ones((max_seq_length, max_seq_length), dtype=bool))
        self.pos = 0

    def update(self, input_pos, k_val, v_val):
        assert input_pos.shape[0] == k_val.shape[2]
        self.k_cache[:, :, input_pos] = k_val
        self.v_cache[:, :, input_pos] = v_val
        return self.k_cache, self.v_cache


def new_cache(batch, heads, dh, capacity, dtype):
    return KVCache(batch, capacity, heads, dh, dtype)


def extend(cache, x, w_qkv, w_out):
    B, T, C = x.shape
    n_head, head_dim = cache.k_cache.shape[1], cache.k_cache.shape[3]
    input_pos = np.arange(cache.pos, cache.pos + T)
    if input_pos[-1] >= cache.k_cache.shape[2]:
        raise ValueError("the cache is full")
    q, k, v = np.split(x @ w_qkv, 3, axis=-1)
    k = k.reshape(B, T, n_head, head_dim).swapaxes(1, 2)
    q = q.reshape(B, T, n_head, head_dim).swapaxes(1, 2)
    v = v.reshape(B, T, n_head, head_dim).swapaxes(1, 2)
    q, k = rope(q, input_pos), rope(k, input_pos)
    k, v = cache.update(input_pos, k, v)
    cache.pos += T

    att = (q @ k.swapaxes(-2, -1)) * x.dtype.type(1.0 / np.sqrt(head_dim))
    att = np.where(cache.causal_mask[None, None, input_pos], att, -np.inf)
    att = np.exp(att - att.max(-1, keepdims=True))
    att = att / att.sum(-1, keepdims=True)
    y = (att @ v).swapaxes(1, 2).reshape(B, T, C)
    return y @ w_out, cache


def reorder(cache, index):
    new = KVCache.__new__(KVCache)
    new.k_cache, new.v_cache = cache.k_cache[index], cache.v_cache[index]
    new.causal_mask, new.pos = cache.causal_mask, cache.pos
    return new
