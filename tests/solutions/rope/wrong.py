# %% neighbors_by_float32_tables
"""Wrong: entries 2 i and 2 i + 1 are a pair, by tables in float32 as most models have them."""

import numpy as np


def precompute(dim, positions, theta):
    freqs = 1.0 / theta ** (np.arange(0, dim, 2, dtype=np.float32) / np.float32(dim))
    angles = positions[..., None].astype(np.float32) * freqs.astype(np.float32)
    return np.cos(angles), np.sin(angles)


def apply(x, cos, sin):
    pairs = x.reshape(*x.shape[:-1], -1, 2)
    a, b = pairs[..., 0], pairs[..., 1]
    return np.stack([a * cos - b * sin, a * sin + b * cos], axis=-1).reshape(x.shape)


def rotate(q, k, v, positions, base=10000.0, width=None):
    cos, sin = precompute(q.shape[-1], positions, base)
    return apply(q, cos, sin), apply(k, cos, sin), v


def convert(w, heads):
    return w.copy()
