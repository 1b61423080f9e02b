# %% columns_first
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


# %% float32_throughout
"""Every constant has the dtype of q, and nothing is ever wider."""

import numpy as np

WHY = {"sum-is-zero": "b", "blind-spot": "d"}


def scores(q, k, causal):
    one = q.dtype.type(1)
    s = np.matmul(q * (one / np.sqrt(q.dtype.type(q.shape[-1]))), k.swapaxes(-1, -2))
    if causal:
        queries, keys = s.shape[-2:]
        bias = np.zeros((queries, keys), q.dtype)
        bias[np.arange(keys)[None, :] - np.arange(queries)[:, None] > keys - queries] = -np.inf
        s = s + bias
    return s


def attention_forward(q, k, v, causal=False):
    s = scores(q, k, causal)
    zero, one = q.dtype.type(0), q.dtype.type(1)
    m = s.max(axis=-1, keepdims=True)
    m = np.where(m > -np.inf, m, zero)
    e = np.exp(s - m)
    z = e.sum(axis=-1, keepdims=True, dtype=q.dtype)
    z = np.where(z == zero, one, z)
    o = np.matmul(e, v) / z
    return o, (q, k, v, o, np.concatenate([m, z], axis=-1), causal)


def attention_backward(grad_o, ctx):
    q, k, v, o, kept, causal = ctx
    p = np.exp(scores(q, k, causal) - kept[..., :1]) / kept[..., 1:]
    d = (grad_o * o).sum(axis=-1, keepdims=True, dtype=q.dtype)
    ds = p * (np.matmul(grad_o, v.swapaxes(-1, -2)) - d)
    root = np.sqrt(q.dtype.type(q.shape[-1]))
    return (
        np.matmul(ds, k) / root,
        np.matmul(ds.swapaxes(-1, -2), q) / root,
        np.matmul(p.swapaxes(-1, -2), grad_o),
    )


# %% head_by_head
"""One matrix at a time, with a list of small dicts for a ctx."""

import numpy as np

WHY = {"sum-is-zero": "b", "blind-spot": "d"}


def matrix(q, k, causal):
    s = q @ k.T / np.sqrt(q.dtype.type(q.shape[1]))
    if causal:
        s = np.where(
            np.subtract.outer(np.arange(len(q)) - len(q), np.arange(len(k)) - len(k)) < 0,
            -np.inf,
            s,
        )
    with np.errstate(invalid="ignore"):
        e = np.exp(s - s.max(axis=1)[:, None])
        p = e / e.sum(axis=1)[:, None]
    return np.nan_to_num(p)


def attention_forward(q, k, v, causal=False):
    heads = [{"q": a, "k": b, "v": c, "causal": causal} for a, b, c in zip(q, k, v)]
    return np.stack([matrix(h["q"], h["k"], causal) @ h["v"] for h in heads]), heads


def one(g, h):
    p = matrix(h["q"], h["k"], h["causal"])
    dp = g @ h["v"].T
    ds = p * (dp - np.einsum("ts,ts->t", p, dp)[:, None]) / np.sqrt(g.dtype.type(h["q"].shape[1]))
    return ds @ h["k"], ds.T @ h["q"], p.T @ g


def attention_backward(grad_o, ctx):
    return tuple(np.stack(parts) for parts in zip(*(one(g, h) for g, h in zip(grad_o, ctx))))


# %% masked_reductions
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


# %% plain_loops
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


# %% python_lists_of_statistics
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


# %% repaired_starter
"""The starter, repaired line by line."""

import numpy as np

WHY = {"sum-is-zero": "b", "blind-spot": "d"}


def softmax(q, k, scale, causal):
    scores = q @ k.transpose(0, 2, 1) * scale
    T, S = scores.shape[1:]
    if causal:
        scores = np.where(np.tril(np.ones((T, S), bool), S - T), scores, -np.inf)
    top = scores.max(axis=-1, keepdims=True)
    weights = np.exp(scores - np.where(np.isfinite(top), top, 0))
    total = weights.sum(axis=-1, keepdims=True)
    return weights / np.where(total == 0, 1, total)


def attention_forward(q, k, v, causal=False):
    scale = q.dtype.type(q.shape[-1] ** -0.5)
    return softmax(q, k, scale, causal) @ v, (q, k, v, scale, causal)


def attention_backward(grad_o, ctx):
    q, k, v, scale, causal = ctx
    weights = softmax(q, k, scale, causal)
    grad_v = weights.transpose(0, 2, 1) @ grad_o
    grad_weights = grad_o @ v.transpose(0, 2, 1)
    grad_weights = grad_weights - (weights * grad_weights).sum(axis=-1, keepdims=True)
    grad_scores = weights * grad_weights * scale
    return grad_scores @ k, grad_scores.transpose(0, 2, 1) @ q, grad_v


# %% style_a
"""Style: that of clipped and others, repaired."""

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
    dot = (grad_o * o).sum(axis=2, keepdims=True)
    grad_s = p * (grad_p - dot) * scale
    grad_q = grad_s @ k
    grad_k = grad_s.transpose(0, 2, 1) @ q
    grad_v = p.transpose(0, 2, 1) @ grad_o
    return grad_q, grad_k, grad_v
