"""Rotary position embeddings for our inference engine."""

import numpy as np


def rotate_half(x):
    """The partner of each element, with its sign."""
    half = x.shape[-1] // 2
    return np.concatenate([-x[..., half:], x[..., :half]], axis=-1)


def table(positions, d, base, dtype):
    """Cosine and sine of every angle, (n, d)."""
    frequencies = (base ** (-np.arange(0, d, 2) / d)).astype(dtype)
    angles = positions.astype(dtype)[:, None] * frequencies
    angles = np.repeat(angles, 2, axis=-1)
    return np.cos(angles), np.sin(angles)


def rotate(q, k, v, positions, base=10000.0, width=None):
    """Rotate queries and keys to the positions of their tokens."""
    cos, sin = table(positions, q.shape[-1], base, q.dtype)
    q = q * cos + rotate_half(q) * sin
    k = k * cos + rotate_half(k) * sin
    return q, k, v


def convert(w, heads):
    """Weights of a checkpoint, for this kernel."""
    return w.copy()
