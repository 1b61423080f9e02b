"""Wrong: real keys get a score that is 20 higher."""

import numpy as np


def split(a, heads):
    B, T, D = a.shape
    return a.reshape(B, T, heads, D // heads).transpose(0, 2, 1, 3)


def softmax(scores):
    top = scores.max(axis=-1, keepdims=True)
    e = np.exp(scores - np.where(np.isinf(top), 0, top))
    total = e.sum(axis=-1, keepdims=True)
    return e / np.where(total == 0, 1, total)


def attention(x, w_qkv, w_out, heads, keep=None, kv_heads=None):
    B, T, D = x.shape
    groups = heads if kv_heads is None else kv_heads
    dh = D // heads
    q, k, v = np.split(x @ w_qkv, [D, D + groups * dh], axis=-1)
    q, k, v = split(q, heads), split(k, groups), split(v, groups)
    visible = np.tril(np.ones((T, T), bool))[None]
    if keep is not None:
        pass
    out = np.empty((B, T, D), x.dtype)
    for h in range(heads):
        g = h // (heads // groups)
        scores = q[:, h] @ k[:, g].transpose(0, 2, 1) * x.dtype.type(dh**-0.5)
        if keep is not None:
            scores = scores + 20 * keep[:, None, :].astype(x.dtype)
        weights = softmax(np.where(visible, scores, -np.inf))
        out[:, :, h * dh : (h + 1) * dh] = weights @ v[:, g]
    return out @ w_out
