"""As in the transformers library: x cos + rotate_half(x) sin, and its transpose."""

import numpy as np


def _tables(positions, d, base, dtype):
    inv_freq = 1.0 / base ** (np.arange(0, d, 2, dtype=np.float64) / d)
    freqs = np.einsum("t,f->tf", positions.astype(np.float64), inv_freq)
    emb = np.concatenate([freqs, freqs], axis=-1)[:, None, :]
    return np.cos(emb).astype(dtype), np.sin(emb).astype(dtype)


def rotate_half(x):
    a, b = np.split(x, 2, axis=-1)
    return np.concatenate([-b, a], axis=-1)


def rope(x, positions, base):
    cos, sin = _tables(positions, x.shape[-1], base, x.dtype)
    return x * cos + rotate_half(x) * sin


def rope_backward(grad_y, positions, base):
    cos, sin = _tables(positions, grad_y.shape[-1], base, grad_y.dtype)
    return grad_y * cos - rotate_half(grad_y) * sin
