"""A dataclass as ctx with row and column of each winner as a pair of int32."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np


@dataclass
class PoolState:
    shape: tuple[int, ...]
    dtype: np.dtype
    row: np.ndarray = field(repr=False)
    column: np.ndarray = field(repr=False)


def maxpool2d_forward(x, kernel, stride, padding=0):
    n, c, h, w = x.shape
    ho = (h + 2 * padding - kernel) // stride + 1
    wo = (w + 2 * padding - kernel) // stride + 1
    y = np.zeros((n, c, ho, wo), x.dtype)
    state = PoolState(
        x.shape, x.dtype, np.zeros((n, c, ho, wo), np.int32), np.zeros((n, c, ho, wo), np.int32)
    )
    for i, j in np.ndindex(ho, wo):
        top, left = max(i * stride - padding, 0), max(j * stride - padding, 0)
        bottom = min(i * stride - padding + kernel, h)
        right = min(j * stride - padding + kernel, w)
        for b, ch in np.ndindex(n, c):
            window = x[b, ch, top:bottom, left:right]
            r, q = np.unravel_index(window.argmax(), window.shape)
            y[b, ch, i, j] = window[r, q]
            state.row[b, ch, i, j], state.column[b, ch, i, j] = top + r, left + q
    return y, state


def maxpool2d_backward(grad_y, ctx):
    grad_x = np.zeros(ctx.shape, ctx.dtype)
    for place in np.ndindex(*grad_y.shape):
        grad_x[place[0], place[1], ctx.row[place], ctx.column[place]] += grad_y[place]
    return grad_x
