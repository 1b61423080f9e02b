"""One window after the other, with its part of the plane cut out, and a dict for a ctx."""

import math

import numpy as np


def _size(length, kernel, stride, padding, ceil_mode):
    exact = (length + 2 * padding - kernel) / stride
    size = (math.ceil(exact) if ceil_mode else math.floor(exact)) + 1
    if (size - 1) * stride >= length + padding:
        size -= 1
    return size


def _window(i, j, ctx):
    """Return the slices of window (i, j) in the plane, and its divisor."""
    h, w = ctx["shape"][2:]
    k, s, p = ctx["kernel"], ctx["stride"], ctx["padding"]
    top, left = i * s - p, j * s - p
    bottom, right = min(top + k, h + p), min(left + k, w + p)
    padded = (bottom - top) * (right - left)
    top, left, bottom, right = max(top, 0), max(left, 0), min(bottom, h), min(right, w)
    plane = (bottom - top) * (right - left)
    return slice(top, bottom), slice(left, right), padded if ctx["counted"] else plane


def avgpool2d_forward(x, kernel, stride, padding, count_include_pad, ceil_mode=False):
    n, c, h, w = x.shape
    ctx = {
        "shape": x.shape,
        "dtype": x.dtype,
        "kernel": kernel,
        "stride": stride,
        "padding": padding,
        "counted": count_include_pad,
    }
    down = _size(h, kernel, stride, padding, ceil_mode)
    across = _size(w, kernel, stride, padding, ceil_mode)
    y = np.zeros((n, c, down, across), dtype=x.dtype)
    for i in range(down):
        for j in range(across):
            rows, columns, divisor = _window(i, j, ctx)
            y[:, :, i, j] = np.sum(x[:, :, rows, columns], axis=(-1, -2)) / divisor
    return y, ctx


def avgpool2d_backward(grad_y, ctx):
    grad_x = np.zeros(ctx["shape"], dtype=ctx["dtype"])
    for i in range(grad_y.shape[2]):
        for j in range(grad_y.shape[3]):
            rows, columns, divisor = _window(i, j, ctx)
            grad_x[:, :, rows, columns] += grad_y[:, :, i : i + 1, j : j + 1] / divisor
    return grad_x
