"""Extended precision inside, float64 outside."""

import numpy as np

EXACT = np.longdouble


def scores(q, k, mask, keys):
    s = q.astype(EXACT) @ k[keys].astype(EXACT).T / np.sqrt(EXACT(q.shape[1]))
    return s if mask is None else np.where(mask[:, keys], s, -np.inf)


def attend(q, k, v, block, mask=None):
    o, top, total = (
        np.zeros((len(q), v.shape[1]), EXACT),
        np.full(len(q), -np.inf, EXACT),
        np.zeros(len(q), EXACT),
    )
    for start in range(0, len(k), block):
        keys = slice(start, start + block)
        s = scores(q, k, mask, keys)
        new = np.maximum(top, s.max(1))
        off = np.where(new == -np.inf, 0, new)
        e, shrink = np.exp(s - off[:, None]), np.exp(top - off)
        o, total, top = o * shrink[:, None] + e @ v[keys], total * shrink + e.sum(1), new
    total[total == 0] = 1
    return (o / total[:, None]).astype(float), (top + np.log(total)).astype(float)


def merge(o1, lse1, o2, lse2):
    a, b = lse1.astype(EXACT), lse2.astype(EXACT)
    top = np.maximum(a, b)
    top[top == -np.inf] = 0
    x, y = np.exp(a - top), np.exp(b - top)
    total = x + y
    dead = total == 0
    total[dead] = 1
    lse = top + np.log(total)
    lse[dead] = -np.inf
    return ((o1 * x[:, None] + o2 * y[:, None]) / total[:, None]).astype(float), lse.astype(float)


def attend_backward(grad_o, q, k, v, o, lse, block, mask=None):
    grad_q, grad_k, grad_v = np.zeros(q.shape, EXACT), np.zeros(k.shape), np.zeros(v.shape)
    root = np.sqrt(EXACT(q.shape[1]))
    off = np.where(lse == -np.inf, 0, lse)[:, None]
    for start in range(0, len(k), block):
        keys = slice(start, start + block)
        p = np.exp(scores(q, k, mask, keys) - off)
        ds = p * (grad_o @ v[keys].T - (grad_o * o).sum(1)[:, None]) / root
        grad_q += ds @ k[keys]
        grad_k[keys] = ds.T @ q
        grad_v[keys] = p.T @ grad_o
    return grad_q.astype(float), grad_k, grad_v
