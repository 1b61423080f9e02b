"""As in Llama's own code, freqs_cis as complex64; halves of a head are the pairs."""

import numpy as np


def precompute_freqs_cis(dim, positions, theta):
    freqs = 1.0 / (theta ** (np.arange(0, dim, 2)[: dim // 2].astype(np.float32) / dim))
    freqs = np.outer(positions, freqs).astype(np.float32)
    return np.exp(1j * freqs).astype(np.complex64)


def apply_rotary_emb(xq, xk, freqs_cis):
    def one(x):
        half = x.shape[-1] // 2
        x_ = (x[..., :half] + 1j * x[..., half:]) * freqs_cis
        return np.concatenate([x_.real, x_.imag], axis=-1)

    return one(xq), one(xk)


def rotate(q, k, v, positions, base=10000.0, width=None):
    freqs_cis = precompute_freqs_cis(q.shape[-1], positions, base)
    xq, xk = apply_rotary_emb(q, k, freqs_cis)
    return xq, xk, v


def convert(w, heads):
    raise NotImplementedError
