"""Causal self-attention with several heads, padding, and shared key and value heads.

With q, k and v of one head, dh features each, and S(t) the real tokens among 0 .. t:

    score[t, s]  = q[t] . k[s] / sqrt(dh)
    weight[t, s] = exp(score[t, s]) / sum over r in S(t) of exp(score[t, r]), for s in S(t), else 0
    out[t]       = sum over s of weight[t, s] * v[s]

The outputs of all heads stand next to each other in the row that is multiplied by w_out. Queries
are taken a block at a time, with the keys up to the end of the block, so that no T by T matrix is
ever made. Values have no unit.

Source: Vaswani et al., "Attention Is All You Need", arXiv:1706.03762, section 3.2; Ainslie et al.,
"GQA", arXiv:2305.13245, for the shared heads.
"""

import numpy as np

BLOCK = 32


def attention(x, w_qkv, w_out, heads, keep=None, kv_heads=None):
    """Return the output of one attention layer.

    Args:
        x: (B, T, D), float32 or float64, finite; heads divides D.
        w_qkv: (D, D + 2 * kv_heads * dh), dtype of x, dh = D // heads: columns of the queries, of
            the keys, of the values, each head by head.
        w_out: (D, D), dtype of x.
        heads: number of query heads.
        keep: (B, T) bool, True for real tokens; None for no padding.
        kv_heads: number of key and value heads, divides heads; None for as many as query heads.

    Returns:
        y: (B, T, D), dtype of x; exactly 0 where a query sees no real token.
    """
    q, k, v = _projections(x, w_qkv, heads, heads if kv_heads is None else kv_heads)
    return _merged(_attended(q, k, v, keep)) @ w_out


def _projections(x, w_qkv, heads, kv_heads):
    """Return q, k and v, (B, heads, T, dh) each."""
    width = x.shape[-1] // heads
    ends = [heads * width, (heads + kv_heads) * width]
    q, k, v = np.split(x @ w_qkv, ends, axis=-1)
    return (
        _split(q, heads),
        _shared(_split(k, kv_heads), heads),
        _shared(_split(v, kv_heads), heads),
    )


def _split(a, heads):
    """(B, T, heads * dh) -> (B, heads, T, dh)."""
    batch, tokens, features = a.shape
    return a.reshape(batch, tokens, heads, features // heads).transpose(0, 2, 1, 3)


def _merged(a):
    """(B, heads, T, dh) -> (B, T, heads * dh)."""
    batch, heads, tokens, width = a.shape
    return a.transpose(0, 2, 1, 3).reshape(batch, tokens, heads * width)


def _shared(a, heads):
    """(B, kv_heads, T, dh) -> (B, heads, T, dh): heads that share one stand next to each other."""
    return np.repeat(a, heads // a.shape[1], axis=1)


def _attended(q, k, v, keep):
    """Return the outputs of the heads, (B, heads, T, dh)."""
    tokens = q.shape[2]
    out = np.empty(q.shape, q.dtype)
    for first in range(0, tokens, BLOCK):
        last = min(first + BLOCK, tokens)
        block = slice(first, last)
        scores = _scores(q[:, :, block], k[:, :, :last])
        out[:, :, block] = _weights(scores, _visible(first, last, keep)) @ v[:, :, :last]
    return out


def _scores(q, k):
    """(B, heads, n, dh), (B, heads, m, dh) -> (B, heads, n, m)."""
    return q @ k.transpose(0, 1, 3, 2) * q.dtype.type(_scale(q))


def _scale(q):
    """Return the factor of the dot products of (B, heads, n, dh)."""
    return q.shape[-1] ** -0.5


def _visible(first, last, keep):
    """Return which of keys 0 .. last - 1 queries first .. last - 1 see: broadcasts to scores."""
    visible = np.arange(last) <= np.arange(first, last)[:, None]
    return visible if keep is None else visible & keep[:, None, None, :last]


def _weights(scores, visible):
    """Return the softmax over visible keys, 0 for all others, and in rows that see no key."""
    scores = np.where(visible, scores, -np.inf)
    top = scores.max(axis=-1, keepdims=True)
    e = np.exp(scores - np.where(top == -np.inf, 0, top))
    total = e.sum(axis=-1, keepdims=True)
    return e / np.where(total == 0, 1, total)
