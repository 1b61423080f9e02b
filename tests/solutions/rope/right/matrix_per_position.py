"""Every position gets a matrix of width by width."""

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
    d = q.shape[-1]
    half = width // 2
    matrices = np.zeros((*cos.shape[:-1], d, d), q.dtype)
    i = np.arange(half)
    matrices[..., i, i] = matrices[..., half + i, half + i] = cos
    matrices[..., half + i, i], matrices[..., i, half + i] = sin, -sin
    i = np.arange(width, d)
    matrices[..., i, i] = 1
    return (matrices @ q[..., None])[..., 0], (matrices @ k[..., None])[..., 0], v


def convert(w, heads):
    pairs = w.reshape(*w.shape[:-1], heads, -1, 2)
    return pairs.swapaxes(-1, -2).reshape(w.shape).copy()
