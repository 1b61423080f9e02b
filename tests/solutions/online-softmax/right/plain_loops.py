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
