"""As in GPT-NeoX and its kin: a float32 table for all positions of a context, looked up."""

import numpy as np

MAX_SEQ_LEN = 2048


def precompute_cos_sin(dim, base):
    theta = np.float32(base) ** (-2 * np.arange(dim // 2, dtype=np.float32) / dim)
    freqs = np.einsum("i,j->ij", np.arange(MAX_SEQ_LEN, dtype=np.float32), theta)
    return np.cos(freqs), np.sin(freqs)


def apply_rotary(x, cos, sin):
    x1, x2 = np.split(x, 2, axis=-1)
    return np.concatenate([x1 * cos - x2 * sin, x2 * cos + x1 * sin], axis=-1)


def rotate(q, k, v, positions, base=10000.0, width=None):
    if q.shape[-1] % 2 != 0:
        raise ValueError(f"head_dim must be even, got {q.shape[-1]}")
    cos, sin = precompute_cos_sin(q.shape[-1], base)
    cos, sin = cos[positions], sin[positions]
    return apply_rotary(q, cos, sin), apply_rotary(k, cos, sin), v


def convert(w, heads):
    raise NotImplementedError
