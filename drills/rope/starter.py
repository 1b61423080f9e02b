"""Rotary position embeddings for our inference engine."""

import numpy as np


def rotate_half(x):
    """Each entry's partner, with its sign: (a, b) becomes (-b, a)."""
    half = x.shape[-1] // 2
    return np.concatenate([-x[..., half:], x[..., :half]], axis=-1)


def table(positions, d, base, dtype):
    """Cosine and sine of every angle, (n, d): one angle per pair, so each stands there twice."""
    frequencies = (base ** (-np.arange(0, d, 2) / d)).astype(dtype)
    angles = positions.astype(dtype)[:, None] * frequencies
    return np.repeat(np.cos(angles), 2, axis=-1), np.repeat(np.sin(angles), 2, axis=-1)


def rotate(q, k, v, positions, base=10000.0, width=None):
    """Turn queries and keys to the positions of their tokens."""
    cos, sin = table(positions, q.shape[-1], base, q.dtype)
    return q * cos + rotate_half(q) * sin, k * cos + rotate_half(k) * sin, v


def convert(w, heads):
    """Weights of a checkpoint, for this kernel."""
    return w.copy()
