"""A pair is a complex number, and a rotation a product."""

import numpy as np


def rotate(q, k, v, positions, base=10000.0, width=None):
    w = width or q.shape[-1]
    phases = np.multiply.outer(positions, base ** (-np.arange(0, w, 2) / w))
    turn = np.exp(1j * phases)
    if turn.ndim == 3:
        turn = turn[:, np.newaxis]

    def turned(x):
        z = (x[..., : w // 2] + 1j * x[..., w // 2 : w]) * turn
        return np.concatenate([z.real, z.imag, x[..., w:]], axis=-1).astype(x.dtype)

    return turned(q), turned(k), v.copy()


def convert(w, heads):
    d = w.shape[-1] // heads
    order = [h * d + i for h in range(heads) for i in [*range(0, d, 2), *range(1, d, 2)]]
    return w[..., order]
