"""Tables for the thousands and for the units of a position, and the sines of sums of angles."""

import numpy as np


def table(positions, frequencies):
    """Cosine and sine, (..., n, pairs), from two tables of a few rows each."""
    thousands, units = np.divmod(positions, 1024)
    high, where_high = np.unique(thousands, return_inverse=True)
    low, where_low = np.unique(units, return_inverse=True)
    a, b = np.outer(high * 1024, frequencies), np.outer(low, frequencies)
    a_of, b_of = where_high.reshape(positions.shape), where_low.reshape(positions.shape)
    cos_a, sin_a, cos_b, sin_b = np.cos(a)[a_of], np.sin(a)[a_of], np.cos(b)[b_of], np.sin(b)[b_of]
    return cos_a * cos_b - sin_a * sin_b, sin_a * cos_b + cos_a * sin_b


def rotate(q, k, v, positions, base=10000.0, width=None):
    width = width if width is not None else q.shape[-1]
    half = width // 2
    cos, sin = table(positions, np.logspace(0, -2 / width * (half - 1), half, base=base))
    if positions.ndim == 2:
        cos, sin = cos[:, None], sin[:, None]
    both = []
    for x in (q, k):
        y = np.empty(x.shape, x.dtype)
        y[..., :half] = x[..., :half] * cos - x[..., half:width] * sin
        y[..., half:width] = x[..., :half] * sin + x[..., half:width] * cos
        y[..., width:] = x[..., width:]
        both.append(y)
    return *both, v


def convert(w, heads):
    d = w.shape[-1] // heads
    old = np.argsort(np.arange(w.shape[-1]) % d % 2 + 2 * (np.arange(w.shape[-1]) // d), kind="stable")
    return w[..., old]
