"""A loop over the tokens, each with its matrix of d by d."""

import numpy as np


def matrix(m, d, base, width):
    half = width // 2
    R = np.eye(d)
    for i in range(half):
        a = int(m) * base ** (-2 * i / width)
        R[i, i] = R[half + i, half + i] = np.cos(a)
        R[half + i, i] = np.sin(a)
        R[i, half + i] = -np.sin(a)
    return R


def rotate(q, k, v, positions, base=10000.0, width=None):
    B, H, n, d = q.shape
    new_q, new_k = np.empty(q.shape, q.dtype), np.empty(k.shape, k.dtype)
    for b in range(B):
        row = positions[b] if positions.ndim == 2 else positions
        for t in range(n):
            R = matrix(row[t], d, base, d if width is None else width)
            new_q[b, :, t] = q[b, :, t] @ R.T
            new_k[b, :, t] = k[b, :, t] @ R.T
    return new_q, new_k, v


def convert(w, heads):
    width = w.shape[-1]
    d = width // heads
    P = np.zeros((width, width), w.dtype)
    for h in range(heads):
        for i in range(d // 2):
            P[h * d + 2 * i, h * d + i] = 1
            P[h * d + 2 * i + 1, h * d + d // 2 + i] = 1
    return w @ P
