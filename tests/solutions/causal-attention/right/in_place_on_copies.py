"""Style: in place on buffers of its own, one for all blocks of scores, results with out=."""

import numpy as np


def attention(x, w_qkv, w_out, heads, keep=None, kv_heads=None):
    x = np.array(x, copy=True, order="C")
    w_qkv = np.array(w_qkv, copy=True, order="C")
    batch, tokens, size = x.shape
    groups = heads if kv_heads is None else kv_heads
    dh = size // heads
    w_qkv[:, :size] /= np.float32(dh) ** np.float32(0.5) if x.dtype == np.float32 else dh**0.5
    fused = x @ w_qkv
    q = fused[..., :size].reshape(batch, tokens, groups, heads // groups, dh).swapaxes(1, 2)
    k = fused[..., size : size + groups * dh].reshape(batch, tokens, groups, dh)
    v = fused[..., size + groups * dh :].reshape(batch, tokens, groups, dh)
    step = max(1, min(tokens, 4000 // (heads * tokens) + 8))
    buffer = np.empty((batch, heads // groups, step, tokens), x.dtype)
    for g in range(groups):
        for start in range(0, tokens, step):
            stop = min(start + step, tokens)
            s = buffer[:, :, : stop - start, :stop]
            queries = q[:, g, start:stop].swapaxes(1, 2)
            np.matmul(queries, k[:, None, :stop, g].swapaxes(-1, -2), out=s)
            for b in range(batch):
                if keep is not None:
                    s[b][..., ~keep[b, :stop]] = -np.inf
                for t in range(start, stop):
                    s[b, :, t - start, t + 1 :] = -np.inf
            m = s.max(axis=-1, keepdims=True)
            m[m == -np.inf] = 0
            np.subtract(s, m, out=s)
            np.exp(s, out=s)
            total = s.sum(axis=-1, keepdims=True)
            total[total == 0] = 1
            np.divide(s, total, out=s)
            # The rows of x are not read any more.
            rows = x[:, start:stop].reshape(batch, stop - start, groups, heads // groups, dh)
            rows[:, :, g] = (s @ v[:, None, :stop, g]).swapaxes(1, 2)
            x[:, start:stop] = rows.reshape(batch, stop - start, size)
    return x @ w_out
