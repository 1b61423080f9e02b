"""Every pair as a length and an angle, to which the angle of the position is added."""

import numpy as np


def rotate(q, k, v, positions, base=10000.0, width=None):
    width = width or q.shape[-1]
    half = width // 2
    angle = np.float64(positions)[..., np.newaxis] * np.float64(base) ** (np.arange(half) / -half)
    if angle.ndim == 3:
        angle = angle[:, np.newaxis]

    def turned(x):
        a, b = np.float64(x[..., :half]), np.float64(x[..., half:width])
        length, now = np.hypot(a, b), np.arctan2(b, a) + angle
        parts = [length * np.cos(now), length * np.sin(now), x[..., width:]]
        return np.concatenate(parts, axis=-1, dtype=x.dtype)

    return turned(q), turned(k), v


def convert(w, heads):
    d = w.shape[-1] // heads
    columns = w.T.reshape(heads, d // 2, 2, -1)
    return columns.transpose(3, 0, 2, 1).reshape(w.shape).copy()
