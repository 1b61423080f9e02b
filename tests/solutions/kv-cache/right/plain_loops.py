"""Style: loops over numbers; a position is turned by sines and cosines of its own, a cell at a time."""

import math

import numpy as np


def turned(vector, position):
    half = len(vector) // 2
    out = list(vector)
    for i in range(half):
        angle = position * 10000.0 ** (-i / half)
        c, s = math.cos(angle), math.sin(angle)
        out[i] = vector[i] * c - vector[i + half] * s
        out[i + half] = vector[i] * s + vector[i + half] * c
    return out


def times(row, matrix):
    return [sum(a * b for a, b in zip(row, column)) for column in matrix]


def new_cache(batch, heads, dh, capacity, dtype):
    def room():
        return [[np.zeros((capacity, dh), dtype) for _ in range(heads)] for _ in range(batch)]

    return {"keys": room(), "values": room(), "filled": 0}


def extend(cache, x, w_qkv, w_out):
    B, n, D = x.shape
    heads = len(cache["keys"][0])
    dh = D // heads
    columns, out_columns = w_qkv.T.tolist(), w_out.T.tolist()
    y = np.zeros((B, n, D), dtype=x.dtype)
    for b in range(B):
        for t in range(n):
            position = cache["filled"] + t
            row = times(x[b, t].tolist(), columns)
            joined = []
            for h in range(heads):
                q = turned(row[h * dh : h * dh + dh], position)
                keys, values = cache["keys"][b][h], cache["values"][b][h]
                keys[position] = turned(row[D + h * dh : D + h * dh + dh], position)
                values[position] = row[2 * D + h * dh : 2 * D + h * dh + dh]
                top, total, mixed = -math.inf, 0.0, [0.0] * dh
                for s in range(position + 1):
                    score = sum(a * b for a, b in zip(q, keys[s].tolist())) / math.sqrt(dh)
                    higher = max(top, score)
                    shrink, weight = math.exp(top - higher), math.exp(score - higher)
                    total = total * shrink + weight
                    mixed = [m * shrink + weight * v for m, v in zip(mixed, values[s].tolist())]
                    top = higher
                joined += [m / total for m in mixed]
            y[b, t] = times(joined, out_columns)
    cache["filled"] += n
    return y, cache


def reorder(cache, index):
    return {
        "keys": [[keys.copy() for keys in cache["keys"][i]] for i in index],
        "values": [[values.copy() for values in cache["values"][i]] for i in index],
        "filled": cache["filled"],
    }
