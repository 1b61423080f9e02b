"""Blocks of keys with a running maximum; the logarithm of the normalizer is kept."""

import numpy as np

WHY = {"sum-is-zero": "b", "blind-spot": "d"}
BLOCK = 3


def blocks(q, k, causal):
    T, S = q.shape[1], k.shape[1]
    for start in range(0, S, BLOCK):
        part = slice(start, min(start + BLOCK, S))
        s = q @ k[:, part].transpose(0, 2, 1) * q.shape[2] ** -0.5
        if causal:
            late = np.arange(part.start, part.stop) > np.arange(T)[:, None] + (S - T)
            s[:, late] = -np.inf
        yield part, s


def attention_forward(q, k, v, causal=False):
    top = np.full((*q.shape[:2], 1), -np.inf, q.dtype)
    total = np.zeros_like(top)
    o = np.zeros((*q.shape[:2], v.shape[2]), q.dtype)
    for part, s in blocks(q, k, causal):
        new = np.maximum(top, s.max(axis=2, keepdims=True))
        safe = np.where(new == -np.inf, 0, new)
        e, shrink = np.exp(s - safe), np.exp(top - safe)
        o = o * shrink + e @ v[:, part]
        total = total * shrink + e.sum(axis=2, keepdims=True)
        top = new
    empty = total == 0
    total[empty], top[empty] = 1, 0
    o = o / total
    return o, (q, k, v, o, top + np.log(total), causal)


def attention_backward(grad_o, ctx):
    q, k, v, o, lse, causal = ctx
    dot = (grad_o * o).sum(axis=2, keepdims=True)
    grad_q, grad_k, grad_v = np.zeros_like(q), np.empty_like(k), np.empty_like(v)
    for part, s in blocks(q, k, causal):
        p = np.exp(s - lse)
        ds = p * (grad_o @ v[:, part].transpose(0, 2, 1) - dot) * q.shape[2] ** -0.5
        grad_q += ds @ k[:, part]
        grad_k[:, part] = ds.transpose(0, 2, 1) @ q
        grad_v[:, part] = p.transpose(0, 2, 1) @ grad_o
    return grad_q, grad_k, grad_v
