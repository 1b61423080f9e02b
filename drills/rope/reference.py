"""Rotary position embeddings: queries and keys are turned, by angles that grow with the position.

Entries i and i + d/2 of a head are the two coordinates (a, b) of a point in a plane, and the token
at position m turns it by m * w_i radians, with w_i = base ** (-2 i / d):

    (a, b)  becomes  (a cos(m w_i) - b sin(m w_i), b cos(m w_i) + a sin(m w_i))

A rotation keeps lengths, and a dot product of two turned vectors depends on the difference of their
positions only.

Source: J. Su, Y. Lu, S. Pan, A. Murtadha, B. Wen and Y. Liu, "RoFormer: Enhanced Transformer with
Rotary Position Embedding", arXiv:2104.09864, section 3.2.2. There the two entries of a pair are
neighbors; here they are half a head apart, as in rotate_half of Hugging Face's transformers.
"""

import numpy as np


def rotate(q, k, v, positions, base=10000.0, width=None):
    """Return queries and keys turned to the positions of their tokens, and the values.

    Args:
        q: (B, H, n, d), float32 or float64, any strides; never modified.
        k: like q.
        v: like q.
        positions: (n,) or (B, n) integers, at least 0.
        base: pair i turns by base ** (-2 i / width) radians per position.
        width: how many entries of each head turn, an even number; None for all d.

    Returns:
        q, k: new arrays, shape and dtype of the old ones.
        v: the very array that was given.

    Raises:
        ValueError: the width is odd.
    """
    width = q.shape[-1] if width is None else width
    if width % 2:
        raise ValueError("what turns has to be pairs")
    cos, sin = _table(positions, _frequencies(width, base), q.dtype)
    return _turned(q, cos, sin), _turned(k, cos, sin), v


def convert(w, heads):
    """Return weights for `rotate`, from those of a checkpoint that pairs neighbors.

    Args:
        w: (D, heads * d) weights of queries or keys, for x @ w; or their bias, (heads * d,).
        heads: the number of heads.

    Returns:
        A new array, shape and dtype of w; in each head the even columns come first, then the odd.
    """
    pairs = w.reshape(*w.shape[:-1], heads, -1, 2)
    return np.concatenate([pairs[..., 0], pairs[..., 1]], axis=-1).reshape(w.shape)


def _frequencies(width, base):
    """Return radians per position, (width // 2,), in float64."""
    return base ** (-np.arange(0, width, 2) / width)


def _table(positions, frequencies, dtype):
    """Return cosine and sine of all angles, (B or 1, 1, n, width // 2).

    The angles are float64: at a position of a million, float32 would be off by hundredths of a
    radian.
    """
    angles = positions[..., None, :, None] * frequencies
    return np.cos(angles).astype(dtype), np.sin(angles).astype(dtype)


def _parts(x, half):
    """Return the first entries of all pairs, the second ones, and what does not turn."""
    return x[..., :half], x[..., half : 2 * half], x[..., 2 * half :]


def _turned(x, cos, sin):
    """Return x with every pair turned, a new array."""
    a, b, rest = _parts(x, cos.shape[-1])
    return np.concatenate([a * cos - b * sin, b * cos + a * sin, rest], axis=-1)
