"""Loops, with a matrix for each point, and its transpose in the backward."""

import math

import numpy as np


def _each(x, positions, base, transposed):
    y = np.empty_like(x)
    half = x.shape[-1] // 2
    for t, p in enumerate(positions.tolist()):
        for i in range(half):
            angle = p * base ** (-2 * i / x.shape[-1])
            turn = np.array([[math.cos(angle), -math.sin(angle)], [math.sin(angle), math.cos(angle)]])
            turn = turn.T if transposed else turn
            y[:, t, :, i :: half] = x[:, t, :, i :: half] @ turn.T.astype(x.dtype)
    return y


def rope(x, positions, base):
    return _each(x, positions, base, False)


def rope_backward(grad_y, positions, base):
    return _each(grad_y, positions, base, True)
