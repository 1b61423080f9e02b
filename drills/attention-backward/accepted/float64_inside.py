"""Everything is computed in float64, and copies in float64 are kept."""

import numpy as np

WHY = {"sum-is-zero": "b", "blind-spot": "d"}


def softmax(q, k, causal):
    s = q @ k.swapaxes(1, 2) / np.sqrt(q.shape[2])
    T, S = s.shape[1:]
    seen = np.tril(np.ones((T, S)), S - T).astype(bool) if causal else np.ones((T, S), bool)
    s[:, ~seen] = -np.inf
    e = np.exp(s - np.nan_to_num(s.max(axis=2, keepdims=True), neginf=0.0)) * seen
    return e / np.maximum(e.sum(axis=2, keepdims=True), np.finfo(float).tiny)


def attention_forward(q, k, v, causal=False):
    kept = [np.array(a, np.float64) for a in (q, k, v)]
    o = softmax(kept[0], kept[1], causal) @ kept[2]
    return o.astype(q.dtype), (*kept, causal, q.dtype)


def attention_backward(grad_o, ctx):
    q, k, v, causal, dtype = ctx
    p = softmax(q, k, causal)
    g = grad_o.astype(np.float64)
    dp = g @ v.swapaxes(1, 2)
    ds = p * (dp - (p * dp).sum(axis=2, keepdims=True)) / np.sqrt(q.shape[2])
    grads = ds @ k, ds.swapaxes(1, 2) @ q, p.swapaxes(1, 2) @ g
    return tuple(a.astype(dtype) for a in grads)
