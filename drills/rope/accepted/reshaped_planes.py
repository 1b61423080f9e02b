"""An axis of two for the halves, and its mirror image with a sign."""

import numpy as np


class Rotary:
    sign = np.array([[-1], [1]])

    def __init__(self, base, width):
        self.width = width
        self.speed = np.power(float(base), np.linspace(0, -1, width // 2, endpoint=False))

    def table(self, positions):
        phase = np.tensordot(positions, self.speed, axes=0)[..., None, :]
        return np.cos(phase), np.sin(phase)

    def __call__(self, x, positions):
        cos, sin = self.table(positions if positions.ndim == 1 else positions[:, None])
        planes = x[..., : self.width].astype(np.float64).reshape(*x.shape[:-1], 2, -1)
        turned = planes * cos + self.sign * planes[..., ::-1, :] * sin
        out = x.copy()
        out[..., : self.width] = turned.reshape(*x.shape[:-1], self.width)
        return out


def rotate(q, k, v, positions, base=10000.0, width=None):
    rotary = Rotary(base, width or q.shape[3])
    return rotary(q, positions), rotary(k, positions), v


def convert(w, heads):
    d = w.shape[-1] // heads
    each = np.split(w, heads, axis=-1)
    return np.hstack([np.hstack([one[..., 0:d:2], one[..., 1:d:2]]) for one in each])
