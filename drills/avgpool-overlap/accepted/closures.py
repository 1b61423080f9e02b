"""The ctx is a function that knows shapes and divisors, and no entry."""

import numpy as np


def _axis(length, kernel, stride, padding, counted, rounded_up):
    """Return (start, stop) of the cells of each window in the plane, and how many cells count."""
    last = (length + 2 * padding - kernel) // stride
    if rounded_up and (length + 2 * padding - kernel) % stride:
        last += (last + 1) * stride < length + padding
    spans, counts = [], []
    for i in range(last + 1):
        start, stop = i * stride - padding, i * stride - padding + kernel
        span = (max(start, 0), min(stop, length))
        spans.append(span)
        counts.append(min(stop, length + padding) - start if counted else span[1] - span[0])
    return spans, counts


def avgpool2d_forward(x, kernel, stride, padding, count_include_pad, ceil_mode=False):
    settings = kernel, stride, padding, count_include_pad, ceil_mode
    shape, dtype = x.shape, x.dtype

    def windows():
        (rows, tall), (columns, broad) = (_axis(length, *settings) for length in shape[2:])
        for i, (top, bottom) in enumerate(rows):
            for j, (left, right) in enumerate(columns):
                yield i, j, np.s_[:, :, top:bottom, left:right], tall[i] * broad[j]

    def pull(grad_y):
        grad_x = np.zeros(shape, dtype)
        for i, j, place, count in windows():
            grad_x[place] += (grad_y[:, :, i, j] / count)[:, :, None, None]
        return grad_x

    found = list(windows())
    y = np.empty((*shape[:2], found[-1][0] + 1, found[-1][1] + 1), dtype)
    for i, j, place, count in found:
        y[:, :, i, j] = x[place].sum(axis=(2, 3)) / count
    return y, pull


def avgpool2d_backward(grad_y, ctx):
    return ctx(grad_y)
