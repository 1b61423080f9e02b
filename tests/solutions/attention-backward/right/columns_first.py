"""Keys along the first axis of the scores, so that every softmax runs over axis 1."""

import numpy as np

WHY = {"sum-is-zero": "b", "blind-spot": "d"}


def columns(q, k, causal):
    N, T, d = q.shape
    S = k.shape[1]
    s = (k @ q.transpose(0, 2, 1)) * q.dtype.type(d**-0.5)
    if causal:
        t, key = np.meshgrid(np.arange(T), np.arange(S))
        s[:, key > t + S - T] = -np.inf
    top = s.max(axis=1, keepdims=True)
    e = np.exp(s - np.where(top == -np.inf, 0, top))
    total = e.sum(axis=1, keepdims=True)
    total[total == 0] = np.inf
    return e / total


def attention_forward(q, k, v, causal=False):
    o = columns(q, k, causal).transpose(0, 2, 1) @ v
    return o, (q, k, v, o, bool(causal))


def attention_backward(grad_o, ctx):
    q, k, v, o, causal = ctx
    p = columns(q, k, causal)
    ds = p * (v @ grad_o.transpose(0, 2, 1) - (o * grad_o).sum(axis=2)[:, None, :])
    ds *= q.dtype.type(q.shape[2] ** -0.5)
    return ds.transpose(0, 2, 1) @ k, ds @ q, p @ grad_o
