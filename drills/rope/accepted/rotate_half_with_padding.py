"""A table of all d columns; what does not turn has the angle 0 and no partner."""

import numpy as np


def rotate_half(x, width):
    half = width // 2
    return np.concatenate([-x[..., half:width], x[..., :half], x[..., width:]], axis=-1)


def rotate(q, k, v, positions, base=10000.0, width=None):
    d = q.shape[-1]
    width = d if width is None else width
    frequencies = 1 / (base ** (np.arange(0, width, 2, dtype=np.float64) / width))
    frequencies = np.concatenate([frequencies, frequencies, np.zeros(d - width)])
    angles = positions[..., None].astype(np.float64) * frequencies
    if positions.ndim == 2:
        angles = angles[:, None]
    cos, sin = np.cos(angles).astype(q.dtype), np.sin(angles).astype(q.dtype)
    return q * cos + rotate_half(q, width) * sin, k * cos + rotate_half(k, width) * sin, v


def convert(w, heads):
    return w.reshape(*w.shape[:-1], heads, -1, 2).swapaxes(-1, -2).reshape(w.shape).copy()
