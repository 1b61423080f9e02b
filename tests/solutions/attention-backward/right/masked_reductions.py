"""Maximum and sum with where=, over the keys that are seen."""

from types import SimpleNamespace

import numpy as np

WHY = {"sum-is-zero": "b", "blind-spot": "d"}


def unscaled(c):
    return c.q @ c.k.swapaxes(1, 2)


def seen(c):
    T, S = c.q.shape[1], c.k.shape[1]
    look = np.ones((T, S), bool)
    return np.broadcast_to(np.tril(look, S - T) if c.causal else look, (len(c.q), T, S))


def soft(c):
    look = seen(c)
    s = unscaled(c) / c.root
    top = np.max(s, axis=2, keepdims=True, where=look, initial=-np.finfo(s.dtype).max)
    e = np.exp(s - top, where=look, out=np.zeros_like(s))
    total = np.sum(e, axis=2, keepdims=True)
    return np.divide(e, total, where=look, out=np.zeros_like(s))


def attention_forward(q, k, v, causal=False):
    c = SimpleNamespace(q=q, k=k, v=v, causal=causal, root=float(q.shape[2]) ** 0.5)
    return soft(c) @ v, c


def attention_backward(grad_o, c):
    p = soft(c)
    dp = grad_o @ c.v.swapaxes(1, 2)
    ds = p * dp - p * (p * dp).sum(axis=2, keepdims=True)
    return (ds @ c.k) / c.root, (ds.swapaxes(1, 2) @ c.q) / c.root, p.swapaxes(1, 2) @ grad_o
