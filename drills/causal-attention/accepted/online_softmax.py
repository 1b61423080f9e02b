"""Style: tiles of queries and of keys with a running maximum and rescaled sums, as flash attention."""

import math

import numpy as np

TILE = 40


def attention(x, w_qkv, w_out, heads, keep=None, kv_heads=None):
    B, T, D = x.shape
    G = heads if kv_heads is None else kv_heads
    dh = D // heads
    qkv = x @ w_qkv
    out = np.zeros((B, T, D), x.dtype)
    for h in range(heads):
        g = h // (heads // G)
        q = qkv[:, :, h * dh : (h + 1) * dh] / math.sqrt(dh)
        k = qkv[:, :, D + g * dh : D + (g + 1) * dh]
        v = qkv[:, :, D + (G + g) * dh : D + (G + g + 1) * dh]
        for i in range(0, T, TILE):
            rows = np.arange(i, min(i + TILE, T))
            top = np.full((B, rows.size), -np.inf, x.dtype)
            total = np.zeros((B, rows.size), x.dtype)
            acc = np.zeros((B, rows.size, dh), x.dtype)
            for j in range(0, i + TILE, TILE):
                cols = np.arange(j, min(j + TILE, T))
                if cols.size == 0:
                    break
                see = np.broadcast_to(rows[:, None] >= cols, (B, rows.size, cols.size))
                if keep is not None:
                    see = see & keep[:, None, cols]
                s = np.where(see, q[:, rows] @ k[:, cols].transpose(0, 2, 1), -np.inf)
                new = np.maximum(top, s.max(-1))
                safe = np.where(np.isinf(new), 0, new)
                shrink = np.exp(np.where(np.isinf(top), -np.inf, top - safe))
                e = np.exp(s - safe[..., None])
                total = total * shrink + e.sum(-1)
                acc = acc * shrink[..., None] + e @ v[:, cols]
                top = new
            seen = total > 0
            total[~seen] = 1
            out[:, i : i + rows.size, h * dh : (h + 1) * dh] = acc / total[..., None]
    return out @ w_out
