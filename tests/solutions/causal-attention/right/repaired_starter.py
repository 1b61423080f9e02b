"""Style: the starter with as few changes as will do."""

import numpy as np


def split_heads(a, dh):
    """(B, T, n * dh) -> (B, n, T, dh)."""
    B, T, _ = a.shape
    return a.reshape(B, T, -1, dh).transpose(0, 2, 1, 3)


def merge_heads(a):
    """(B, heads, T, dh) -> (B, T, D), undoes split_heads."""
    B, heads, T, dh = a.shape
    return a.transpose(0, 2, 1, 3).reshape(B, T, heads * dh)


def attention(x, w_qkv, w_out, heads, keep=None, kv_heads=None):
    B, T, D = x.shape
    dh = D // heads
    kv = (w_qkv.shape[1] - D) // 2
    q, k, v = (split_heads(a, dh) for a in np.split(x @ w_qkv, [D, D + kv], axis=-1))
    visible = np.tril(np.ones((T, T), bool))
    if keep is not None:
        visible = visible & keep[:, None, :]
    share = heads // k.shape[1]
    outputs = []
    for h in range(heads):
        scores = q[:, h] @ k[:, h // share].transpose(0, 2, 1) / np.sqrt(dh)
        scores = np.where(visible, scores, -np.inf)
        top = scores.max(axis=-1, keepdims=True)
        e = np.exp(scores - np.where(top == -np.inf, 0, top))
        total = e.sum(axis=-1, keepdims=True)
        weights = e / np.where(total == 0, 1, total)
        outputs.append(weights @ v[:, h // share])
    return (merge_heads(np.stack(outputs, axis=1)) @ w_out).astype(x.dtype)
