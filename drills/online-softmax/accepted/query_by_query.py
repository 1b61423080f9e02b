"""One query after the other, and for each of them block by block over the keys that it sees."""

import math

import numpy as np


def attend(q, k, v, block, mask=None):
    o, lse = np.zeros((len(q), v.shape[1])), np.empty(len(q))
    for t, query in enumerate(q):
        top, total, sums = -math.inf, 0.0, np.zeros(v.shape[1])
        for start in range(0, len(k), block):
            s, values = seen(query, k[start : start + block], v[start : start + block], t, start, mask)
            if not s.size:
                continue
            new = max(top, float(s.max()))
            e = np.exp(s - new)
            shrink = math.exp(top - new)
            total = total * shrink + float(e.sum())
            sums = sums * shrink + e @ values
            top = new
        if total:
            o[t] = sums / total
        lse[t] = top + math.log(total) if total else -math.inf
    return o, lse


def seen(query, keys, values, t, start, mask):
    if mask is not None:
        row = mask[t, start : start + len(keys)]
        keys, values = keys[row], values[row]
    return keys @ query / math.sqrt(len(query)), values


def merge(o1, lse1, o2, lse2):
    o, lse = np.zeros_like(o1), np.full_like(lse1, -math.inf)
    for t, (a, b) in enumerate(zip(lse1.tolist(), lse2.tolist(), strict=True)):
        top = max(a, b)
        if top == -math.inf:
            continue
        first, second = math.exp(a - top), math.exp(b - top)
        o[t] = (first * o1[t] + second * o2[t]) / (first + second)
        lse[t] = top + math.log(first + second)
    return o, lse


def attend_backward(grad_o, q, k, v, o, lse, block, mask=None):
    grad_q, grad_k, grad_v = (np.zeros_like(a) for a in (q, k, v))
    root = math.sqrt(q.shape[1])
    for t in range(len(q)):
        if lse[t] == -math.inf:
            continue
        c = grad_o[t] @ o[t]
        for start in range(0, len(k), block):
            rows = np.arange(start, min(start + block, len(k)))
            if mask is not None:
                rows = rows[mask[t, rows]]
            p = np.exp(k[rows] @ q[t] / root - lse[t])
            ds = p * (v[rows] @ grad_o[t] - c) / root
            grad_q[t] += ds @ k[rows]
            grad_k[rows] += np.outer(ds, q[t])
            grad_v[rows] += np.outer(p, grad_o[t])
    return grad_q, grad_k, grad_v
