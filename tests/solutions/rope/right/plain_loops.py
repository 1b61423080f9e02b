"""Plain loops over Python numbers."""

import math

import numpy as np


def turned(x, positions, base, width):
    out = x.copy()
    batch, heads, n, _ = x.shape
    half = width // 2
    for b in range(batch):
        row = positions[b] if positions.ndim == 2 else positions
        for t in range(n):
            for i in range(half):
                angle = float(row[t]) * base ** (-2.0 * i / width)
                c, s = math.cos(angle), math.sin(angle)
                for h in range(heads):
                    first, second = float(x[b, h, t, i]), float(x[b, h, t, half + i])
                    out[b, h, t, i] = first * c - second * s
                    out[b, h, t, half + i] = second * c + first * s
    return out


def rotate(q, k, v, positions, base=10000.0, width=None):
    if width is None:
        width = q.shape[3]
    return turned(q, positions, base, width), turned(k, positions, base, width), v


def convert(w, heads):
    out = w.copy()
    d = w.shape[-1] // heads
    for column in range(w.shape[-1]):
        h, i = divmod(column, d)
        old = 2 * i if i < d // 2 else 2 * (i - d // 2) + 1
        out[..., column] = w[..., h * d + old]
    return out
