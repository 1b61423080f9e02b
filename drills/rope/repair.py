"""Rotary position embeddings for our inference engine."""

import numpy as np


def rotate_half(x):
    """The partner of each element, with its sign."""
    half = x.shape[-1] // 2
    return np.concatenate([-x[..., half:], x[..., :half]], axis=-1)


def table(positions, d, base, dtype):
    """Cosine and sine of every angle, (n, d)."""
    # why 2: The angles stay float64 and positions integers: at a million radians float32 is off
    #        by hundredths. The last axis is new, so that (n,) and (B, n) both work.
    frequencies = base ** (-np.arange(0, d, 2) / d)
    angles = positions[..., None] * frequencies
    # why: rotate_half pairs element i with i + d/2, so both need angle i: all angles, and then
    #      all of them again. np.repeat gives the same angle to neighbors.
    angles = np.concatenate([angles, angles], axis=-1)
    # why 2: With a row of positions for each sequence, the heads need an axis of length 1; only
    #        cosine and sine are rounded to the dtype of q.
    if positions.ndim == 2:
        angles = angles[:, None]
    return np.cos(angles).astype(dtype), np.sin(angles).astype(dtype)


def rotate(q, k, v, positions, base=10000.0, width=None):
    """Rotate queries and keys to the positions of their tokens."""
    # why 2: The first width elements are rotated as a head of that size; the others are appended.
    width = q.shape[-1] if width is None else width
    cos, sin = table(positions, width, base, q.dtype)
    q, q_rest = q[..., :width], q[..., width:]
    k, k_rest = k[..., :width], k[..., width:]
    q = q * cos + rotate_half(q) * sin
    k = k * cos + rotate_half(k) * sin
    # why 2: What is not rotated stays as it is.
    q = np.concatenate([q, q_rest], axis=-1)
    k = np.concatenate([k, k_rest], axis=-1)
    return q, k, v


def convert(w, heads):
    """Weights of a checkpoint, for this kernel."""
    # why 3: Within each head the even columns come first, then the odd ones, so that what was a
    #        pair of neighbors is half a head apart.
    pairs = w.reshape(*w.shape[:-1], heads, -1, 2)
    return pairs.swapaxes(-1, -2).reshape(w.shape).copy()
