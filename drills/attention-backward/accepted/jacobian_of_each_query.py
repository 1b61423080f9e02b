"""The whole Jacobian of each query's softmax, one at a time."""

import numpy as np

WHY = {"sum-is-zero": "b", "blind-spot": "d"}


def row(q, keys):
    s = keys @ q / np.sqrt(len(q)).astype(q.dtype)
    s = np.exp(s - s.max())
    return s / s.sum()


def rows(q, k, causal):
    S, T = len(k), len(q)
    return [row(q[t], k[: t + 1 + S - T] if causal else k) if not causal or t + 1 + S > T else None for t in range(T)]


def attention_forward(q, k, v, causal=False):
    o = np.zeros(q.shape[:2] + v.shape[2:], q.dtype)
    for n in range(len(q)):
        for t, p in enumerate(rows(q[n], k[n], causal)):
            if p is not None:
                o[n, t] = p @ v[n, : len(p)]
    return o, dict(q=q, k=k, v=v, causal=causal)


def attention_backward(grad_o, ctx):
    q, k, v = ctx["q"], ctx["k"], ctx["v"]
    root = np.sqrt(q.shape[2]).astype(q.dtype)
    grads = [np.zeros(a.shape, a.dtype) for a in (q, k, v)]
    for n in range(len(q)):
        for t, p in enumerate(rows(q[n], k[n], ctx["causal"])):
            if p is None:
                continue
            jacobian = np.diag(p) - np.outer(p, p)
            ds = jacobian @ (v[n, : len(p)] @ grad_o[n, t]) / root
            grads[0][n, t] = ds @ k[n, : len(p)]
            grads[1][n, : len(p)] += ds[:, None] * q[n, t]
            grads[2][n, : len(p)] += p[:, None] * grad_o[n, t]
    return tuple(grads)
