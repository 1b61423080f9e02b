"""Causal self-attention with several heads, for the embedded target."""

import numpy as np


def split_heads(a, heads):
    """(B, T, D) -> (B, heads, T, dh)."""
    B, T, D = a.shape
    # why: The features of a head lie next to each other within a token, so it is the last axis that
    #      is split; only then do the axes of tokens and heads change places.
    return a.reshape(B, T, heads, D // heads).transpose(0, 2, 1, 3)


def merge_heads(a):
    """(B, heads, T, dh) -> (B, T, D), undoes split_heads."""
    B, heads, T, dh = a.shape
    # why: The same on the way back, in the opposite order.
    return a.transpose(0, 2, 1, 3).reshape(B, T, heads * dh)


# why 3: kv_heads says how many heads the keys and values have.
def attention(x, w_qkv, w_out, heads, keep=None, kv_heads=None):
    B, T, D = x.shape
    # why 3: The columns of keys and values are fewer. Query heads that share one stand next to each
    #        other, so each is repeated; tile would repeat the row of them.
    kv_heads = heads if kv_heads is None else kv_heads
    ends = [D, D + kv_heads * (D // heads)]
    q, k, v = np.split(x @ w_qkv, ends, axis=-1)
    q, k, v = split_heads(q, heads), split_heads(k, kv_heads), split_heads(v, kv_heads)
    k, v = (np.repeat(a, heads // kv_heads, axis=1) for a in (k, v))
    visible = np.tril(np.ones((T, T), bool))
    if keep is not None:
        visible = visible & keep[:, None, None, :]
    # why 3: A head needs no scores of another one, so only those of one head live at a time.
    out = np.empty(q.shape, x.dtype)
    for h in range(heads):
        scores = q[:, h : h + 1] @ k[:, h : h + 1].transpose(0, 1, 3, 2) / np.sqrt(D // heads)
        scores = np.where(visible, scores, -np.inf)
        # why 3: In a row that sees nothing the maximum is -inf and the sum 0. With 0 taken off and
        #        divided by 1, its weights are 0.
        top = scores.max(axis=-1, keepdims=True)
        e = np.exp(scores - np.where(top == -np.inf, 0, top))
        total = e.sum(axis=-1, keepdims=True)
        out[:, h : h + 1] = e / np.where(total == 0, 1, total) @ v[:, h : h + 1]
    return (merge_heads(out) @ w_out).astype(x.dtype)
