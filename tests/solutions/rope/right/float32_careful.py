"""Angles are brought into one turn in float64; from there on all is in the dtype of q."""

import numpy as np


def rotate(q, k, v, positions, base=10000.0, width=None):
    kind = q.dtype.type
    w = q.shape[-1] if width is None else width
    turns = positions[..., None] * (base ** (-2.0 * np.arange(w // 2) / w) / (2 * np.pi))
    turns -= np.rint(turns)
    phase = (turns * (2 * np.pi)).astype(kind)
    if positions.ndim == 2:
        phase = phase[:, None]
    c, s = np.cos(phase), np.sin(phase)
    result = []
    for x in (q, k):
        a, b = x[..., : w // 2], x[..., w // 2 : w]
        result.append(np.concatenate([c * a - s * b, s * a + c * b, x[..., w:]], -1))
    assert all(one.dtype == kind for one in result)
    return result[0], result[1], v.copy()


def convert(w, heads):
    flat = np.ascontiguousarray(w).reshape(-1, 2)
    d = w.shape[-1] // heads
    even, odd = flat[:, 0].reshape(-1, d // 2), flat[:, 1].reshape(-1, d // 2)
    return np.concatenate([even, odd], axis=1).reshape(w.shape)
