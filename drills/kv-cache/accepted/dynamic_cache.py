"""As in Hugging Face's models: a cache object that concatenates, and index_select for candidates."""

import numpy as np
from rotary import rope


class DynamicCache:
    def __init__(self):
        self.key_cache = None
        self.value_cache = None

    def get_seq_length(self):
        return 0 if self.key_cache is None else self.key_cache.shape[-2]

    def update(self, key_states, value_states):
        if self.key_cache is None:
            self.key_cache, self.value_cache = key_states, value_states
        else:
            self.key_cache = np.concatenate([self.key_cache, key_states], axis=-2)
            self.value_cache = np.concatenate([self.value_cache, value_states], axis=-2)
        return self.key_cache, self.value_cache

    def batch_select_indices(self, indices):
        other = DynamicCache()
        other.num_heads = self.num_heads
        if self.key_cache is not None:
            other.key_cache = np.take(self.key_cache, indices, axis=0)
            other.value_cache = np.take(self.value_cache, indices, axis=0)
        return other


def new_cache(batch, heads, dh, capacity, dtype):
    cache = DynamicCache()
    cache.num_heads = heads
    return cache


def softmax(x):
    e = np.exp(x - np.max(x, axis=-1, keepdims=True))
    return e / np.sum(e, axis=-1, keepdims=True)


def extend(cache, x, w_qkv, w_out):
    bsz, q_len, hidden_size = x.shape
    head_dim = hidden_size // cache.num_heads
    past = cache.get_seq_length()
    query, key, value = np.split(x @ w_qkv, 3, axis=2)
    query = query.reshape(bsz, q_len, -1, head_dim).transpose(0, 2, 1, 3)
    key = key.reshape(bsz, q_len, -1, head_dim).transpose(0, 2, 1, 3)
    value = value.reshape(bsz, q_len, -1, head_dim).transpose(0, 2, 1, 3)
    cache_position = np.arange(past, past + q_len)
    query, key = rope(query, cache_position), rope(key, cache_position)
    key, value = cache.update(key, value)

    kv_len = key.shape[-2]
    mask = np.full((q_len, kv_len), np.finfo(x.dtype).min, dtype=x.dtype)
    mask *= np.arange(kv_len) > cache_position.reshape(-1, 1)
    attn_weights = np.matmul(query, key.transpose(0, 1, 3, 2)) / np.sqrt(head_dim).astype(x.dtype)
    attn_weights = softmax(attn_weights + mask).astype(query.dtype)
    attn_output = np.matmul(attn_weights, value)
    attn_output = attn_output.transpose(0, 2, 1, 3).reshape(bsz, q_len, hidden_size)
    return attn_output @ w_out, cache


def reorder(cache, index):
    return cache.batch_select_indices(index)
