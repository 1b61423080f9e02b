"""Causal self-attention with several heads, for the embedded target."""

import numpy as np


def split_heads(a, heads):
    """(B, T, D) -> (B, heads, T, dh)."""
    B, T, D = a.shape
    return a.reshape(B, heads, T, D // heads)


def merge_heads(a):
    """(B, heads, T, dh) -> (B, T, D), undoes split_heads."""
    B, heads, T, dh = a.shape
    return a.reshape(B, T, heads * dh)


def attention(x, w_qkv, w_out, heads, keep=None):
    B, T, D = x.shape
    q, k, v = (split_heads(a, heads) for a in np.split(x @ w_qkv, 3, axis=-1))
    scores = q @ k.transpose(0, 1, 3, 2) / np.sqrt(D // heads)
    visible = np.tril(np.ones((T, T), bool))
    if keep is not None:
        visible = visible & keep[:, None, None, :]
    scores = np.where(visible, scores, -np.inf)
    e = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = e / e.sum(axis=-1, keepdims=True)
    return (merge_heads(weights @ v) @ w_out).astype(x.dtype)
