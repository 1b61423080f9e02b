"""Stride tricks both ways: backward is a sum over windows of the spread gradient."""

from typing import NamedTuple

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view


class Saved(NamedTuple):
    """Settings, and one fraction per window of a plane."""

    height: int
    width: int
    kernel: int
    stride: int
    padding: int
    fraction: np.ndarray


def _sums(planes, kernel):
    return sliding_window_view(planes, (kernel, kernel), axis=(2, 3)).sum(axis=(4, 5))


def avgpool2d_forward(x, kernel, stride, padding, count_include_pad, ceil_mode=False):
    height, width = x.shape[2:]
    more = kernel if ceil_mode else 0  # room beyond the padded plane
    ring = ((0, 0), (0, 0), (padding, padding), (padding, padding))
    beyond = ((0, 0), (0, 0), (0, more), (0, more))
    ones = np.ones((1, 1, height, width), x.dtype)
    counted = np.pad(ones, ring, constant_values=1 if count_include_pad else 0)
    sums = _sums(np.pad(np.pad(x, ring), beyond), kernel)[:, :, ::stride, ::stride]
    count = _sums(np.pad(counted, beyond), kernel)[0, 0, ::stride, ::stride]
    sizes = []
    for length in (height, width):
        room = length + 2 * padding - kernel
        size = room // stride + 1
        if ceil_mode and room % stride > 0 and size * stride < length + padding:
            size += 1
        sizes.append(size)
    sums, count = sums[:, :, : sizes[0], : sizes[1]], count[: sizes[0], : sizes[1]]
    return sums / count, Saved(height, width, kernel, stride, padding, 1 / count)


def avgpool2d_backward(grad_y, ctx):
    n, c, down, across = grad_y.shape
    k, s, p = ctx.kernel, ctx.stride, ctx.padding
    # grad_y with stride - 1 zeros between its entries, and k - 1 of them around: a window that ends
    # at a cell of the padded plane meets the shares of all windows which that cell is in.
    tall, broad = s * (down - 1) + 1, s * (across - 1) + 1
    sides = max(tall, ctx.height + p) + 2 * k, max(broad, ctx.width + p) + 2 * k
    spread = np.zeros((n, c, *sides), grad_y.dtype)
    spread[:, :, k - 1 : k - 1 + tall : s, k - 1 : k - 1 + broad : s] = grad_y * ctx.fraction
    return _sums(spread, k)[:, :, p : p + ctx.height, p : p + ctx.width].copy()
