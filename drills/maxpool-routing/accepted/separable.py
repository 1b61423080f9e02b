"""Rows first, then columns: the first maximum of the row maxima is the first in row-major order."""

import numpy as np


def _first_max_along(values, axis, size, outputs, kernel, stride, padding):
    best, place = [], []
    for i in range(outputs):
        start = max(i * stride - padding, 0)
        stop = min(i * stride - padding + kernel, size)
        part = values.take(np.arange(start, stop), axis=axis)
        best.append(part.max(axis=axis))
        place.append(part.argmax(axis=axis) + start)
    return np.stack(best, axis=axis), np.stack(place, axis=axis)


def maxpool2d_forward(x, kernel, stride, padding=0):
    n, c, h, w = x.shape
    ho = (h + 2 * padding - kernel) // stride + 1
    wo = (w + 2 * padding - kernel) // stride + 1
    per_row, column = _first_max_along(x, 3, w, wo, kernel, stride, padding)
    y, row = _first_max_along(per_row, 2, h, ho, kernel, stride, padding)
    column = np.take_along_axis(column, row, axis=2)
    row -= (stride * np.arange(ho) - padding)[:, None]
    column -= stride * np.arange(wo) - padding
    local = (row * kernel + column).astype(np.min_scalar_type(kernel * kernel - 1))
    return y, {"local": local, "window": (kernel, stride, padding), "h": h, "w": w}


def maxpool2d_backward(grad_y, ctx):
    n, c, ho, wo = grad_y.shape
    h, w = ctx["h"], ctx["w"]
    kernel, stride, padding = ctx["window"]
    row = ctx["local"] // kernel + (stride * np.arange(ho) - padding)[:, None]
    column = ctx["local"] % kernel + (stride * np.arange(wo) - padding)
    out = np.zeros((n * c, h * w), grad_y.dtype)
    index = (row * w + column).reshape(n * c, ho * wo)
    for plane, (where, gradient) in enumerate(zip(index, grad_y.reshape(index.shape), strict=True)):
        np.add.at(out[plane], where, gradient)
    return out.reshape(n, c, h, w)
