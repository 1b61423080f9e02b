"""Copies, the halves of which are multiplied in place."""

import numpy as np


def turn(x, cos, sin):
    out = np.array(x)
    half = cos.shape[-1]
    a, b = out[..., :half], out[..., half : 2 * half]
    old = a.copy()
    a *= cos
    a -= b * sin
    b *= cos
    old *= sin
    b += old
    return out


def rotate(q, k, v, positions, base=10000.0, width=None):
    if width is None:
        width = q.shape[-1]
    rows = positions if positions.ndim == 2 else positions[None]
    angle = rows[:, None, :, None] / np.power(base, np.arange(0.0, width, 2.0) / width)
    cos, sin = np.cos(angle).astype(q.dtype), np.sin(angle).astype(q.dtype)
    return turn(q, cos, sin), turn(k, cos, sin), v


def convert(w, heads):
    out = np.empty_like(w)
    d = w.shape[-1] // heads
    for h in range(heads):
        out[..., h * d : h * d + d // 2] = w[..., h * d : (h + 1) * d : 2]
        out[..., h * d + d // 2 : (h + 1) * d] = w[..., h * d + 1 : (h + 1) * d : 2]
    return out
