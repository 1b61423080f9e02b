"""Style: a decoder's loop with a list of keys and values that grows by every real token."""

import numpy as np


def step(query, keys, values, heads, groups):
    """(D,), n times (G, dh) -> (heads, dh)."""
    width = query.size // heads
    if not keys:
        return np.zeros((heads, width), query.dtype)
    k, v = np.array(keys), np.array(values)
    q = query.reshape(groups, heads // groups, width)
    s = np.einsum("grd,ngd->grn", q, k) / np.array(width, query.dtype) ** 0.5
    p = np.exp(s - s.max(axis=-1, keepdims=True))
    p /= p.sum(axis=-1, keepdims=True)
    return np.einsum("grn,ngd->grd", p, v).reshape(heads, width)


def attention(x, w_qkv, w_out, heads, keep=None, kv_heads=None):
    groups = heads if kv_heads is None else kv_heads
    features = x.shape[-1]
    width = features // heads
    y = np.empty((*x.shape[:2], w_out.shape[1]), x.dtype)
    for b in range(x.shape[0]):
        keys, values = [], []
        for t in range(x.shape[1]):
            row = x[b, t] @ w_qkv
            if keep is None or keep[b, t]:
                keys.append(row[features : features + groups * width].reshape(groups, width))
                values.append(row[features + groups * width :].reshape(groups, width))
            y[b, t] = step(row[:features], keys, values, heads, groups).reshape(-1) @ w_out
    return y
