"""Style: all sums over keys are running sums of rows that were shifted by their own maximum, backwards."""

import numpy as np


def attention(x, w_qkv, w_out, heads, keep=None, kv_heads=None):
    B, T, D = x.shape
    G = kv_heads or heads
    dh = D // heads
    q, k, v = np.split(x @ w_qkv, (D, D + G * dh), 2)
    q = q.reshape(B, T, G, heads // G, dh)
    k, v = k.reshape(B, T, G, 1, dh), v.reshape(B, T, G, 1, dh)
    one = x.dtype.type(1)
    top = np.full(q.shape[:-1], -np.inf, x.dtype)
    total = np.zeros(q.shape[:-1], x.dtype)
    mixed = np.zeros(q.shape, x.dtype)
    # Key s goes to all queries from s on that may see it; a better key shrinks what is there.
    for s in range(T):
        score = np.sum(q[:, s:] * k[:, s : s + 1], axis=-1) / x.dtype.type(np.sqrt(dh))
        if keep is not None:
            score = np.where(keep[:, s, None, None, None], score, -np.inf)
        old, new = top[:, s:], np.maximum(top[:, s:], score)
        fixed = np.where(new == -np.inf, 0, new)
        shrink, grow = np.exp(old - fixed), np.exp(score - fixed)
        total[:, s:] = total[:, s:] * shrink + grow
        mixed[:, s:] = mixed[:, s:] * shrink[..., None] + grow[..., None] * v[:, s : s + 1]
        top[:, s:] = new
    mixed *= (one / np.where(total == 0, one, total))[..., None]
    return mixed.reshape(B, T, D) @ w_out
