# %% cross_entropy_habit
"""Wrong: weights minus the arriving gradients, as if for a cross-entropy."""

import numpy as np

WHY = {"sum-is-zero": "b", "blind-spot": "d"}


def seen(t, T, S, causal):
    return min(S, max(0, t + 1 + S - T)) if causal else S


def softmax(s):
    e = np.exp(s - s.max())
    return e / e.sum()


def attention_forward(q, k, v, causal=False):
    N, T, d = q.shape
    S = k.shape[1]
    o = np.zeros((N, T, v.shape[2]), q.dtype)
    for n in range(N):
        for t in range(T):
            c = seen(t, T, S, causal)
            if c > 0:
                o[n, t] = softmax(k[n, :c] @ q[n, t] / d**0.5) @ v[n, :c]
    return o, (q, k, v, causal)


def attention_backward(grad_o, ctx):
    q, k, v, causal = ctx
    N, T, d = q.shape
    S = k.shape[1]
    grad_q, grad_k, grad_v = np.zeros_like(q), np.zeros_like(k), np.zeros_like(v)
    for n in range(N):
        for t in range(T):
            c = seen(t, T, S, causal)
            if c > 0:
                p = softmax(k[n, :c] @ q[n, t] / d**0.5)
                a = v[n, :c] @ grad_o[n, t]
                ds = (p - a) / d**0.5
                grad_q[n, t] = ds @ k[n, :c]
                grad_k[n, :c] += np.outer(ds, q[n, t])
                grad_v[n, :c] += np.outer(p, grad_o[n, t])
    return grad_q, grad_k, grad_v
