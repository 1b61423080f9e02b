"""Style: weights are exp(score - logsumexp), by logaddexp; closures, one for each head."""

import math

import numpy as np


def attention(x, w_qkv, w_out, heads, keep=None, kv_heads=None):
    size = x.shape[-1]
    dh = size // heads
    ratio = heads // (kv_heads or heads)
    fused = x.astype(np.float64) @ w_qkv.astype(np.float64)
    k_from, v_from = size, size + heads // ratio * dh
    causal = np.triu(np.full((x.shape[1], x.shape[1]), -math.inf), 1)
    padding = 0.0 if keep is None else np.where(keep, 0.0, -math.inf)[:, None, :]

    def columns(start, n):
        return fused[..., start + n * dh : start + (n + 1) * dh]

    def head(h):
        s = columns(0, h) @ columns(k_from, h // ratio).swapaxes(1, 2)
        s /= math.sqrt(dh)
        s += causal
        s += padding
        lse = np.logaddexp.reduce(s, axis=-1, keepdims=True)
        lse[np.isinf(lse)] = 0
        s -= lse
        return np.exp(s, out=s) @ columns(v_from, h // ratio)

    return (np.concatenate([head(h) for h in range(heads)], axis=-1) @ w_out).astype(x.dtype)
