"""Nothing is set to minus infinity: reductions run where the mask is true."""

import numpy as np


def pieces(q, k, block, mask):
    everything = np.ones((len(q), min(block, len(k))), bool)
    for start in range(0, len(k), block):
        stop = min(start + block, len(k))
        where = everything[:, : stop - start] if mask is None else mask[:, start:stop]
        yield slice(start, stop), (q @ k[start:stop].T) / np.sqrt(q.shape[1]), where


def exps(s, top, where):
    # exp(s - top) where it is asked for, else 0
    return np.exp(np.subtract(s, top[:, None], out=np.full_like(s, -np.inf), where=where))


def attend(q, k, v, block, mask=None):
    top = np.full(len(q), -np.inf)
    acc = np.zeros((len(q), v.shape[1] + 1))  # the last column is the sum
    for part, s, where in pieces(q, k, block, mask):
        new = np.maximum(top, np.max(s, axis=1, where=where, initial=-np.inf))
        began = np.isfinite(top)
        acc[began] *= np.exp(top[began] - new[began])[:, None]
        e = exps(s, new, where)
        acc[:, :-1] += e @ v[part]
        acc[:, -1] += e.sum(axis=1)
        top = new
    alive = acc[:, -1] > 0
    acc[~alive, -1] = 1
    return acc[:, :-1] / acc[:, -1:], top + np.log(acc[:, -1])


def merge(o1, lse1, o2, lse2):
    both = np.stack([lse1, lse2])
    top = both.max(axis=0)
    alive = top > -np.inf
    w = np.zeros_like(both)
    w[:, alive] = np.exp(both[:, alive] - top[alive])
    total = w.sum(axis=0)
    w[:, alive] /= total[alive]
    lse = top.copy()
    lse[alive] += np.log(total[alive])
    return np.einsum("it,ite->te", w, np.stack([o1, o2])), lse


def attend_backward(grad_o, q, k, v, o, lse, block, mask=None):
    out = np.zeros_like(q), np.zeros_like(k), np.zeros_like(v)
    for part, s, where in pieces(q, k, block, mask):
        p = exps(s, lse, where)
        slope = grad_o @ v[part].T
        slope -= np.sum(grad_o * o, axis=1)[:, None]
        slope *= p
        slope /= np.sqrt(q.shape[1])
        out[0][...] += slope @ k[part]
        out[1][part] = slope.T @ q
        out[2][part] = p.T @ grad_o
    return out
