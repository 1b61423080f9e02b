# %% hidden_block_sets_the_maximum_to_zero
"""Wrong: a block that is hidden sets the running maximum to 0, which never comes down again."""

import numpy as np


def attend(q, k, v, block, mask=None):
    T, d = q.shape
    m = np.full(T, -np.inf)
    l = np.zeros(T)
    o = np.zeros((T, v.shape[1]))
    for a in range(0, len(k), block):
        s = q @ k[a : a + block].T / np.sqrt(d)
        if mask is not None:
            s = np.where(mask[:, a : a + block], s, -np.inf)
        new = np.maximum(m, s.max(1))
        new = np.where(new == -np.inf, 0, new)
        base = new
        w = np.exp(s - base[:, None])
        c = np.exp(m - base)
        l = l * c + w.sum(1)
        o = o * c[:, None] + w @ v[a : a + block]
        m = new
    dead = l == 0
    return o / np.where(dead, 1, l)[:, None], np.where(
        dead, -np.inf, m + np.log(np.where(dead, 1, l))
    )


def merge(o1, lse1, o2, lse2):
    top = np.maximum(lse1, lse2)
    top = np.where(np.isfinite(top), top, 0)
    a, b = np.exp(lse1 - top), np.exp(lse2 - top)
    t = a + b
    z = np.where(t == 0, 1, t)
    return (o1 * a[:, None] + o2 * b[:, None]) / z[:, None], np.where(
        t == 0, -np.inf, top + np.log(z)
    )


def attend_backward(grad_o, q, k, v, o, lse, block, mask=None):
    d = q.shape[1]
    gq, gk, gv = np.zeros_like(q), np.zeros_like(k), np.zeros_like(v)
    D = (grad_o * o).sum(1)
    base = np.where(np.isfinite(lse), lse, 0)
    live = np.isfinite(lse)
    for a in range(0, len(k), block):
        K, V = k[a : a + block], v[a : a + block]
        s = q @ K.T / np.sqrt(d)
        if mask is not None:
            s = np.where(mask[:, a : a + block], s, -np.inf)
        p = np.exp(s - base[:, None]) * live[:, None]
        gv[a : a + block] = p.T @ grad_o
        ds = p * (grad_o @ V.T - D[:, None]) / np.sqrt(d)
        gq += ds @ K
        gk[a : a + block] = ds.T @ q
    return gq, gk, gv


# %% scores_of_one_query_with_all_keys
"""Wrong: query by query, each with all keys at once."""

import numpy as np


def attend(q, k, v, block, mask=None):
    o, lse = np.zeros((len(q), v.shape[1])), np.full(len(q), -np.inf)
    for t in range(len(q)):
        seen = slice(None) if mask is None else mask[t]
        s = k[seen] @ q[t] / np.sqrt(q.shape[1])
        if s.size:
            e = np.exp(s - s.max())
            o[t] = e @ v[seen] / e.sum()
            lse[t] = s.max() + np.log(e.sum())
    return o, lse


def merge(o1, lse1, o2, lse2):
    top = np.maximum(lse1, lse2)
    base = np.where(np.isfinite(top), top, 0.0)
    w1, w2 = np.exp(lse1 - base), np.exp(lse2 - base)
    total = w1 + w2
    divisor = np.where(total > 0, total, 1.0)
    o = (w1[:, None] * o1 + w2[:, None] * o2) / divisor[:, None]
    return o, np.where(total > 0, base + np.log(divisor), -np.inf)


def attend_backward(grad_o, q, k, v, o, lse, block, mask=None):
    scale = 1 / np.sqrt(q.shape[1])
    base = np.where(np.isfinite(lse), lse, 0.0)
    grad_q = np.zeros(q.shape)
    grad_k = np.zeros(k.shape)
    grad_v = np.zeros(v.shape)
    for start in range(0, len(k), block):
        part = slice(start, start + block)
        scores = q @ k[part].T * scale
        if mask is not None:
            scores[~mask[:, part]] = -np.inf
        p = np.exp(scores - base[:, None])
        ds = p * (grad_o @ v[part].T - np.sum(grad_o * o, axis=1, keepdims=True))
        grad_q += scale * (ds @ k[part])
        grad_k[part] = scale * (ds.T @ q)
        grad_v[part] = p.T @ grad_o
    return grad_q, grad_k, grad_v
