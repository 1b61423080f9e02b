"""Style: heads are views made by as_strided; shared heads by a stride of 0; one query row at a time."""

import numpy as np
from numpy.lib.stride_tricks import as_strided


def attention(x, w_qkv, w_out, heads, keep=None, kv_heads=None):
    B, T, D = x.shape
    G = heads if kv_heads is None else kv_heads
    R, dh = heads // G, D // heads
    qkv = np.ascontiguousarray(x @ w_qkv)
    b, t, c = qkv.strides
    q = as_strided(qkv, (B, G, R, T, dh), (b, R * dh * c, dh * c, t, c))
    k = as_strided(qkv[:, :, D:], (B, G, R, T, dh), (b, dh * c, 0, t, c))
    v = as_strided(qkv[:, :, D + G * dh :], (B, G, R, T, dh), (b, dh * c, 0, t, c))
    real = np.ones((B, T), bool) if keep is None else keep
    mixed = np.empty((B, T, D), x.dtype)
    o = as_strided(
        mixed,
        (B, G, R, T, dh),
        (mixed.strides[0], R * dh * c, dh * c, mixed.strides[1], c),
    )
    root = x.dtype.type(np.sqrt(dh))
    for n in range(T):
        s = (q[..., n : n + 1, :] * k[..., : n + 1, :]).sum(-1) / root
        s = np.where(real[:, None, None, : n + 1], s, x.dtype.type(-np.inf))
        m = s.max(-1, keepdims=True)
        e = np.exp(s - np.where(np.isneginf(m), x.dtype.type(0), m))
        z = e.sum(-1, keepdims=True)
        p = np.divide(e, z, out=np.zeros_like(e), where=z > 0)
        o[..., n, :] = (p[..., None] * v[..., : n + 1, :]).sum(-2)
    return mixed @ w_out
