"""Rotary position embedding, given and right."""

import numpy as np


def rope(x, positions):
    """Return x with each of its vectors rotated to the position of its token.

    Elements i and i + dh // 2 are a pair, rotated by positions * 10000 ** (-2 i / dh) radians.

    Args:
        x: (B, heads, n, dh), float32 or float64; dh is even.
        positions: (n,) integers.

    Returns:
        A new array, shape and dtype of x.

    Source: Su et al., "RoFormer", arXiv:2104.09864, where the two elements of a pair are neighbors;
    here they are half a vector apart, as in rotate_half of Hugging Face's transformers.
    """
    half = x.shape[-1] // 2
    angles = np.asarray(positions)[:, None] * 10000.0 ** (-np.arange(half) / half)
    cos, sin = np.cos(angles).astype(x.dtype), np.sin(angles).astype(x.dtype)
    first, second = x[..., :half], x[..., half:]
    return np.concatenate([first * cos - second * sin, first * sin + second * cos], axis=-1)
