"""The queries are turned in the caller's array, copied, and turned back."""

import numpy as np


def table(positions, base, width, dtype):
    frequencies = 1.0 / base ** (np.arange(0, width, 2) / width)
    angles = positions[..., None] * frequencies
    if positions.ndim == 2:
        angles = angles[:, None]
    return np.cos(angles).astype(dtype), np.sin(angles).astype(dtype)


def turn(x, cos, sin, width):
    half = width // 2
    a, b = x[..., :half], x[..., half:width]
    return np.concatenate([a * cos - b * sin, b * cos + a * sin, x[..., width:]], axis=-1)


def rotate(q, k, v, positions, base=10000.0, width=None):
    width = q.shape[-1] if width is None else width
    cos, sin = table(positions, base, width, q.dtype)
    old = q.copy()
    q[...] = turn(q, cos, sin, width)
    new = q.copy()
    q[...] = old
    return new, turn(k, cos, sin, width), v


def convert(w, heads):
    pairs = w.reshape(*w.shape[:-1], heads, -1, 2)
    return pairs.swapaxes(-1, -2).reshape(w.shape).copy()
