"""A loop over the queries, each with a slice of the keys that it sees."""

import numpy as np

WHY = {"sum-is-zero": "b", "blind-spot": "d"}


def queries(q, k, causal):
    N, T, d = q.shape
    S = k.shape[1]
    for n in range(N):
        for t in range(T):
            seen = min(S, max(0, t + 1 + S - T)) if causal else S
            if seen:
                s = k[n, :seen] @ q[n, t] / d**0.5
                e = np.exp(s - max(s))
                yield n, t, seen, e / sum(e)


def attention_forward(q, k, v, causal=False):
    o = np.zeros((*q.shape[:2], v.shape[2]), q.dtype)
    for n, t, seen, p in queries(q, k, causal):
        o[n, t] = p @ v[n, :seen]
    return o, (q, k, v, causal)


def attention_backward(grad_o, ctx):
    q, k, v, causal = ctx
    grad_q, grad_k, grad_v = np.zeros_like(q), np.zeros_like(k), np.zeros_like(v)
    for n, t, seen, p in queries(q, k, causal):
        dp = v[n, :seen] @ grad_o[n, t]
        ds = p * (dp - p @ dp) / q.shape[2] ** 0.5
        grad_q[n, t] = ds @ k[n, :seen]
        grad_k[n, :seen] += np.outer(ds, q[n, t])
        grad_v[n, :seen] += np.outer(p, grad_o[n, t])
    return grad_q, grad_k, grad_v
