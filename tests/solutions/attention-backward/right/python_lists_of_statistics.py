"""Statistics per query as a list of Python floats."""

import functools

import numpy as np

WHY = {"sum-is-zero": "b", "blind-spot": "d"}


def scores_of(q, k, n, t, causal):
    count = k.shape[1] if not causal else max(0, t + 1 + k.shape[1] - q.shape[1])
    return (k[n, :count] * q[n, t]).sum(axis=1) / float(q.shape[2]) ** 0.5


def attention_forward(q, k, v, causal=False):
    N, T, _ = q.shape
    o = np.zeros((N, T, v.shape[2]), q.dtype)
    statistics = []
    for n, t in np.ndindex(N, T):
        s = scores_of(q, k, n, t, causal)
        if len(s) == 0:
            statistics.append((0.0, 1.0))
            continue
        top = float(s.max())
        total = float(np.exp(s - top).sum())
        statistics.append((top, total))
        o[n, t] = (np.exp(s - top) / total) @ v[n, : len(s)]
    return o, functools.partial(backward, q=q, k=k, v=v, causal=causal, statistics=statistics)


def backward(grad_o, q, k, v, causal, statistics):
    grads = np.zeros_like(q), np.zeros_like(k), np.zeros_like(v)
    for (n, t), (top, total) in zip(np.ndindex(q.shape[:2]), statistics):
        s = scores_of(q, k, n, t, causal)
        p = np.exp(s - top) / total
        dp = v[n, : len(s)] @ grad_o[n, t]
        ds = p * (dp - (p * dp).sum()) / float(q.shape[2]) ** 0.5
        grads[0][n, t] = (ds[:, None] * k[n, : len(s)]).sum(axis=0)
        grads[1][n, : len(s)] += ds[:, None] * q[n, t]
        grads[2][n, : len(s)] += p[:, None] * grad_o[n, t]
    return grads


def attention_backward(grad_o, ctx):
    return ctx(grad_o)
