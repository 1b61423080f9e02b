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
                scores = []
                for s in seen:
                    dot, key_row = 0.0, rows[s]
                    for d in range(dh):
                        dot += q[d] * key_row[key + d]
                    scores.append(dot / math.sqrt(dh))
                weights = softmax(scores)
                for column in range(value, value + dh):
                    total = 0.0
                    for weight, s in zip(weights, seen):
                        total += weight * rows[s][column]
                    mixed.append(total)
            y[b, t] = product(mixed, w_end)
    return y
