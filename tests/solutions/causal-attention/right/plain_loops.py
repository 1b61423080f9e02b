"""Style: plain loops over Python floats, arrays only at the borders."""

import math

import numpy as np


def product(row, matrix):
    return [math.fsum(a * r[j] for a, r in zip(row, matrix)) for j in range(len(matrix[0]))]


def softmax(scores):
    top = max(scores)
    powers = [math.exp(s - top) for s in scores]
    total = sum(powers)
    return [p / total for p in powers]


def attention(x, w_qkv, w_out, heads, keep=None, kv_heads=None):
    kv_heads = heads if kv_heads is None else kv_heads
    size = x.shape[2]
    dh = size // heads
    w_in, w_end = w_qkv.tolist(), w_out.tolist()
    y = np.zeros(x.shape, x.dtype)
    for b in range(x.shape[0]):
        rows = [product(token, w_in) for token in x[b].tolist()]
        for t, row in enumerate(rows):
            seen = [s for s in range(t + 1) if keep is None or keep[b][s]]
            if not seen:
                continue
            mixed = []
            for h in range(heads):
                g = h // (heads // kv_heads)
                q = row[h * dh : (h + 1) * dh]
                key, value = size + g * dh, size + (kv_heads + g) * dh
                scores = [
                    sum(a * c for a, c in zip(q, rows[s][key : key + dh])) / math.sqrt(dh)
                    for s in seen
                ]
                weights = softmax(scores)
                for d in range(dh):
                    mixed.append(sum(w * rows[s][value + d] for w, s in zip(weights, seen)))
            y[b, t] = product(mixed, w_end)
    return y
