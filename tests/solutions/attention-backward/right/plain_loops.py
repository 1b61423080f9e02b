"""Python loops over numbers, nothing of numpy but the arrays."""

import math

import numpy as np

WHY = {"sum-is-zero": "b", "blind-spot": "d"}


def weights(q, k, t, count):
    scores = [sum(a * b for a, b in zip(q[t], k[s])) / math.sqrt(len(q[t])) for s in range(count)]
    top = max(scores, default=0.0)
    e = [math.exp(s - top) for s in scores]
    total = math.fsum(e)
    return [x / total for x in e]


def seen(t, T, S, causal):
    return max(0, t + 1 + S - T) if causal else S


def attention_forward(q, k, v, causal=False):
    o = np.zeros((q.shape[0], q.shape[1], v.shape[2]), dtype=q.dtype)
    for n in range(q.shape[0]):
        Q, K, V = q[n].tolist(), k[n].tolist(), v[n].tolist()
        for t in range(len(Q)):
            p = weights(Q, K, t, seen(t, len(Q), len(K), causal))
            for j in range(v.shape[2]):
                o[n, t, j] = math.fsum(w * V[s][j] for s, w in enumerate(p))
    return o, (q, k, v, causal)


def attention_backward(grad_o, ctx):
    q, k, v, causal = ctx
    dq, dk, dv = (np.zeros(a.shape) for a in (q, k, v))
    root = math.sqrt(q.shape[2])
    for n in range(q.shape[0]):
        Q, K, V, G = q[n].tolist(), k[n].tolist(), v[n].tolist(), grad_o[n].tolist()
        for t in range(len(Q)):
            p = weights(Q, K, t, seen(t, len(Q), len(K), causal))
            dp = [sum(g * x for g, x in zip(G[t], V[s])) for s in range(len(p))]
            dot = sum(w * a for w, a in zip(p, dp))
            for s, w in enumerate(p):
                ds = w * (dp[s] - dot) / root
                for i in range(len(Q[t])):
                    dq[n, t, i] += ds * K[s][i]
                    dk[n, s, i] += ds * Q[t][i]
                for j in range(len(G[t])):
                    dv[n, s, j] += w * G[t][j]
    return dq.astype(q.dtype), dk.astype(q.dtype), dv.astype(q.dtype)
