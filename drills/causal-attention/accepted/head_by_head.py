"""Style: a loop over sequences and heads with whole matrices; padding is removed, not hidden."""

import numpy as np


def softmax(s):
    e = np.exp(s - s.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def attention(x, w_qkv, w_out, heads, keep=None, kv_heads=None):
    if kv_heads is None:
        kv_heads = heads
    D = x.shape[2]
    dh = D // heads
    y = []
    for b, tokens in enumerate(x):
        place = np.arange(len(tokens))
        real = place if keep is None else place[keep[b]]
        fused = tokens @ w_qkv
        queries, keys, values = np.split(fused, [D, D + kv_heads * dh], axis=1)
        columns = []
        for h in range(heads):
            g = h * kv_heads // heads
            q = queries[:, h * dh : (h + 1) * dh]
            k = keys[real, g * dh : (g + 1) * dh]
            v = values[real, g * dh : (g + 1) * dh]
            o = np.zeros_like(q)
            # Queries before the first real token see nobody.
            some = place[place >= real[0]] if real.size else place[:0]
            if some.size:
                s = q[some] @ k.T * x.dtype.type(dh**-0.5)
                s[real[None, :] > some[:, None]] = -np.inf
                o[some] = softmax(s) @ v
            columns.append(o)
        y.append(np.hstack(columns) @ w_out)
    return np.stack(y)
