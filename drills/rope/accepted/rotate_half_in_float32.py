"""As in Hugging Face's models: inverse frequencies in float32, an embedding of two halves."""

import numpy as np


def rotate_half(x):
    x1, x2 = x[..., : x.shape[-1] // 2], x[..., x.shape[-1] // 2 :]
    return np.concatenate((-x2, x1), axis=-1)


class RotaryEmbedding:
    def __init__(self, dim, base=10000):
        self.inv_freq = (1.0 / (base ** (np.arange(0, dim, 2).astype(np.float32) / dim))).astype(
            np.float32
        )

    def __call__(self, position_ids):
        freqs = np.outer(position_ids.astype(np.float32), self.inv_freq)
        emb = np.concatenate((freqs, freqs), axis=-1)
        return np.cos(emb), np.sin(emb)


def apply_rotary_pos_emb(q, k, cos, sin):
    cos, sin = cos[None, None], sin[None, None]
    return (q * cos) + (rotate_half(q) * sin), (k * cos) + (rotate_half(k) * sin)


def rotate(q, k, v, positions, base=10000.0, width=None):
    cos, sin = RotaryEmbedding(q.shape[-1], base)(positions)
    q, k = apply_rotary_pos_emb(q, k, cos, sin)
    return q, k, v


def convert(w, heads):
    raise NotImplementedError
