"""Wrong: the largest of the arriving gradients is taken off, not their weighted mean."""

import numpy as np

WHY = {"sum-is-zero": "b", "blind-spot": "d"}


def hide(s, causal):
    if not causal:
        return s
    queries, keys = s.shape[1:]
    seen = np.arange(keys) <= np.arange(queries)[:, None] + keys - queries
    return np.where(seen, s, -np.inf)


def attention_forward(q, k, v, causal=False):
    scale = q.shape[2] ** -0.5
    s = hide(q @ k.transpose(0, 2, 1) * scale, causal)
    top = s.max(axis=2, keepdims=True)
    top = np.where(np.isfinite(top), top, 0)
    e = np.exp(s - top)
    total = e.sum(axis=2, keepdims=True)
    total = np.where(total > 0, total, 1)
    o = (e / total) @ v
    return o, (q, k, v, o, top, total, causal)


def attention_backward(grad_o, ctx):
    q, k, v, o, top, total, causal = ctx
    scale = q.shape[2] ** -0.5
    p = np.exp(hide(q @ k.transpose(0, 2, 1) * scale, causal) - top) / total
    grad_p = grad_o @ v.transpose(0, 2, 1)
    dot = grad_p.max(axis=2, keepdims=True)
    grad_s = p * (grad_p - dot) * scale
    grad_q = grad_s @ k
    grad_k = grad_s.transpose(0, 2, 1) @ q
    grad_v = p.transpose(0, 2, 1) @ grad_o
    return grad_q, grad_k, grad_v
