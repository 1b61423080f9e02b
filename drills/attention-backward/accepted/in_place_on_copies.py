"""Two work arrays, written over in place; copies of the inputs are kept."""

import numpy as np

WHY = {"sum-is-zero": "b", "blind-spot": "d"}


def work(q, k, causal):
    s = np.matmul(q, k.transpose(0, 2, 1))
    s *= q.shape[2] ** -0.5
    T, S = s.shape[1:]
    if causal:
        rows, columns = np.triu_indices(T, S - T + 1, S)
        s[:, rows, columns] = -np.inf
    return s


def attention_forward(q, k, v, causal=False):
    p = work(q, k, causal)
    top = p.max(axis=2, keepdims=True)
    top[top == -np.inf] = 0
    p -= top
    np.exp(p, out=p)
    total = p.sum(axis=2, keepdims=True)
    total[total == 0] = 1
    p /= total
    o = np.matmul(p, v)
    return o, [q.copy(), k.copy(), v.copy(), o.copy(), top, total, causal]


def attention_backward(grad_o, ctx):
    q, k, v, o, top, total, causal = ctx
    p = work(q, k, causal)
    p -= top
    np.exp(p, out=p)
    p /= total
    ds = np.matmul(grad_o, v.transpose(0, 2, 1))
    ds -= np.einsum("nte,nte->nt", grad_o, o)[..., None]
    ds *= p
    ds *= q.shape[2] ** -0.5
    return np.matmul(ds, k), np.matmul(ds.transpose(0, 2, 1), q), np.matmul(p.transpose(0, 2, 1), grad_o)
