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
