"""A function that makes the function that turns; frequencies by a Python loop, kept for the next call."""

import functools
import math

import numpy as np


@functools.lru_cache(maxsize=None)
def frequencies(width, base):
    return tuple(math.exp(-2 * i / width * math.log(base)) for i in range(width // 2))


def turner(positions, base, width):
    angles = np.stack([positions * f for f in frequencies(width, base)], axis=-1)
    if positions.ndim > 1:
        angles = np.expand_dims(angles, 1)
    cos, sin = np.cos(angles), np.sin(angles)

    def turn(x):
        c, s = cos.astype(x.dtype), sin.astype(x.dtype)
        first, second, rest = np.split(x, [width // 2, width], axis=-1)
        return np.concatenate((first * c - second * s, second * c + first * s, rest), axis=-1)

    return turn


def rotate(q, k, v, positions, base=10000.0, width=None):
    turn = turner(positions, float(base), q.shape[-1] if width is None else int(width))
    return turn(q), turn(k), v


def convert(w, heads):
    order = np.arange(w.shape[-1]).reshape(heads, -1, 2).swapaxes(1, 2).ravel()
    return np.take(w, order, axis=-1)
