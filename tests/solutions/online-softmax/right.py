# %% extended_inside
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


# %% plain_loops
"""Plain loops over Python numbers."""

import math

import numpy as np


def dot(a, b):
    return sum(x * y for x, y in zip(a, b, strict=True))


def add(total, factor, row):
    for i, x in enumerate(row):
        total[i] += factor * x


def block_of(k, start, block):
    return k[start : start + block].tolist()


def looks(mask, t, s):
    return mask is None or mask[t, s]


def attend(q, k, v, block, mask=None):
    root = math.sqrt(q.shape[1])
    tops = [-math.inf] * len(q)
    totals = [0.0] * len(q)
    sums = [[0.0] * v.shape[1] for _ in q]
    for start in range(0, len(k), block):
        keys, values = block_of(k, start, block), block_of(v, start, block)
        for t, query in enumerate(q.tolist()):
            for i, key in enumerate(keys):
                if not looks(mask, t, start + i):
                    continue
                s = dot(query, key) / root
                if s > tops[t]:
                    shrink = math.exp(tops[t] - s)
                    totals[t] *= shrink
                    sums[t] = [x * shrink for x in sums[t]]
                    tops[t] = s
                e = math.exp(s - tops[t])
                totals[t] += e
                add(sums[t], e, values[i])
    o = [
        [x / total if total else 0.0 for x in row] for row, total in zip(sums, totals, strict=True)
    ]
    lse = [m + math.log(l) if l else -math.inf for m, l in zip(tops, totals, strict=True)]
    return np.array(o), np.array(lse)


def merge(o1, lse1, o2, lse2):
    rows, lse = [], []
    for a, x, b, y in zip(o1, lse1, o2, lse2, strict=True):
        x, y = float(x), float(y)
        top = max(x, y)
        if top == -math.inf:
            rows.append([0.0] * len(a))
            lse.append(top)
            continue
        first, second = math.exp(x - top), math.exp(y - top)
        rows.append(
            [(first * c + second * d) / (first + second) for c, d in zip(a, b, strict=True)]
        )
        lse.append(top + math.log(first + second))
    return np.array(rows), np.array(lse)


def attend_backward(grad_o, q, k, v, o, lse, block, mask=None):
    root = math.sqrt(q.shape[1])
    grad_q = [[0.0] * q.shape[1] for _ in q]
    grad_k = [[0.0] * k.shape[1] for _ in k]
    grad_v = [[0.0] * v.shape[1] for _ in v]
    for t, (query, g, out, logsum) in enumerate(
        zip(q.tolist(), grad_o.tolist(), o.tolist(), lse.tolist(), strict=True)
    ):
        mean = dot(g, out)
        for start in range(0, len(k), block):
            pairs = zip(block_of(k, start, block), block_of(v, start, block), strict=True)
            for s, (key, value) in enumerate(pairs, start):
                if not looks(mask, t, s):
                    continue
                p = math.exp(dot(query, key) / root - logsum)
                slope = p * (dot(g, value) - mean) / root
                add(grad_q[t], slope, key)
                add(grad_k[s], slope, query)
                add(grad_v[s], p, g)
    return np.array(grad_q), np.array(grad_k), np.array(grad_v)


# %% repaired_starter
"""The starter, repaired where it stands, and what the later parts ask for."""

import numpy as np


def attend(q, k, v, block, mask=None):
    top = np.full(len(q), -np.inf)  # the largest score so far
    total = np.zeros(len(q))
    o = np.zeros((len(q), v.shape[1]))
    for start in range(0, len(k), block):
        scores = q @ k[start : start + block].T / np.sqrt(q.shape[1])
        if mask is not None:
            scores[~mask[:, start : start + block]] = -np.inf
        new = np.maximum(top, scores.max(axis=1))
        base = np.where(np.isfinite(new), new, 0.0)
        shrink = np.exp(top - base)
        weights = np.exp(scores - base[:, None])
        total = total * shrink + weights.sum(axis=1)
        o = o * shrink[:, None] + weights @ v[start : start + block]
        top = new
    divisor = np.where(total > 0, total, 1.0)
    return o / divisor[:, None], np.where(total > 0, top + np.log(divisor), -np.inf)


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
