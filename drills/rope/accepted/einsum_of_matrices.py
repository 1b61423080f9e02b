"""A 2 by 2 matrix for every angle, and an einsum."""

import numpy as np


def rotate(q, k, v, positions, base=10000.0, width=None):
    B, H, n, d = q.shape
    w = d if width is None else width
    rows = np.broadcast_to(positions, (B, n))
    a = np.einsum("bn,i->bni", rows, 1.0 / base ** (2 * np.arange(w // 2) / w))
    R = np.array([[np.cos(a), -np.sin(a)], [np.sin(a), np.cos(a)]])  # (2, 2, B, n, w / 2)

    def turned(x):
        planes = x[..., :w].reshape(B, H, n, 2, w // 2)
        y = x.copy(order="C")
        y[..., :w] = np.einsum("rcbni,bhnci->bhnri", R, planes).reshape(B, H, n, w)
        return y

    return turned(q), turned(k), v


def convert(w, heads):
    pairs = w.reshape(w.shape[:-1] + (heads, -1, 2))
    return np.einsum("...ij->...ji", pairs).reshape(w.shape).copy()
