"""Style: every array and every constant has the dtype of x, sums are in that dtype, blocks are uneven."""

import numpy as np


def attention(x, w_qkv, w_out, heads, keep=None, kv_heads=None):
    kind = x.dtype.type
    b, t, d = x.shape
    groups = heads if kv_heads is None else kv_heads
    dh = d // heads
    scale = kind(1) / np.sqrt(kind(dh))
    wq, wk, wv = np.hsplit(w_qkv, [d, d + groups * dh])
    q = (x @ wq * scale).reshape(b, t, heads, dh)
    k = (x @ wk).reshape(b, t, groups, dh)
    v = (x @ wv).reshape(b, t, groups, dh)
    out = np.zeros((b, t, heads, dh), x.dtype)
    edges = np.unique(np.linspace(0, t, num=max(2, t // 20 + 1)).astype(int))
    for first, last in zip(edges[:-1], edges[1:]):
        for h in range(heads):
            g = h // (heads // groups)
            s = np.matmul(q[:, first:last, h], k[:, :last, g].transpose(0, 2, 1))
            hide = np.zeros(s.shape, bool)
            hide |= np.arange(last) > np.arange(first, last)[:, None]
            if keep is not None:
                hide |= np.logical_not(keep)[:, None, :last]
            s[hide] = kind(-np.inf)
            top = s.max(axis=2)
            top[np.isneginf(top)] = kind(0)
            s -= top[:, :, None]
            e = np.exp(s)
            total = e.sum(axis=2, dtype=x.dtype)
            total[total == kind(0)] = kind(1)
            out[:, first:last, h] = np.matmul(e, v[:, :last, g]) / total[:, :, None]
    return np.matmul(out.reshape(b, t, d), w_out)
