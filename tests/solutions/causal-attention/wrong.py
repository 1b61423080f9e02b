# %% causal_within_blocks_only
"""Wrong: the causal mask of a block counts its queries from 0."""

import numpy as np


def by_heads(a, count, width):
    return np.moveaxis(a.reshape(*a.shape[:2], count, width), 2, 1)


def attention(x, w_qkv, w_out, heads, keep=None, kv_heads=None):
    B, T, D = x.shape
    width = D // heads
    kv_heads = kv_heads or heads
    fused = x @ w_qkv
    q = by_heads(fused[..., :D], heads, width)
    k = by_heads(fused[..., D : D + kv_heads * width], kv_heads, width)
    v = by_heads(fused[..., D + kv_heads * width :], kv_heads, width)
    k = np.repeat(k, heads // kv_heads, axis=1)
    v = np.repeat(v, heads // kv_heads, axis=1)
    real = np.ones((B, T), bool) if keep is None else keep
    out = np.zeros((B, T, D), x.dtype)
    for start in range(0, T, 32):
        stop = min(start + 32, T)
        s = q[:, :, start:stop] @ k[:, :, :stop].swapaxes(2, 3) * x.dtype.type(1 / width**0.5)
        rows, cols = np.arange(stop - start)[:, None], np.arange(stop)
        s = np.where((cols <= rows) & real[:, None, None, :stop], s, -np.inf)
        m = s.max(-1, keepdims=True)
        m[m == -np.inf] = 0
        e = np.exp(s - m)
        z = e.sum(-1, keepdims=True)
        o = e @ v[:, :, :stop] / np.where(z > 0, z, 1)
        out[:, start:stop] = np.moveaxis(o, 1, 2).reshape(B, stop - start, D)
    return out @ w_out
