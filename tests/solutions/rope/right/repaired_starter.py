"""The starter with as few lines changed as possible."""

import numpy as np


def rotate_half(x):
    """Each entry's partner, with its sign: (a, b) becomes (-b, a)."""
    half = x.shape[-1] // 2
    return np.concatenate([-x[..., half:], x[..., :half]], axis=-1)


def table(positions, d, base, dtype):
    """Cosine and sine of every angle, (n, d): one angle per pair, so each stands there twice."""
    frequencies = base ** (-np.arange(0, d, 2) / d)
    angles = np.tile(positions[..., None] * frequencies, 2)
    if positions.ndim == 2:
        angles = angles[:, None]
    return np.cos(angles).astype(dtype), np.sin(angles).astype(dtype)


def rotate(q, k, v, positions, base=10000.0, width=None):
    """Turn queries and keys to the positions of their tokens."""
    if width is not None and width < q.shape[-1]:
        some_q, some_k, _ = rotate(q[..., :width], k[..., :width], v, positions, base)
        return (
            np.concatenate([some_q, q[..., width:]], axis=-1),
            np.concatenate([some_k, k[..., width:]], axis=-1),
            v,
        )
    cos, sin = table(positions, q.shape[-1], base, q.dtype)
    return q * cos + rotate_half(q) * sin, k * cos + rotate_half(k) * sin, v


def convert(w, heads):
    """Weights of a checkpoint, for this kernel."""
    shape = w.shape
    return w.reshape(*shape[:-1], heads, shape[-1] // heads // 2, 2).swapaxes(-2, -1).reshape(shape)
