# %% closure_over_everything
"""The ctx is a closure that keeps the whole input alive without using it."""

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view


def maxpool2d_forward(x, kernel, stride, padding=0):
    n, c, h, w = x.shape
    frame = np.full((n, c, h + 2 * padding, w + 2 * padding), -np.inf, x.dtype)
    frame[:, :, padding : padding + h, padding : padding + w] = x
    view = sliding_window_view(frame, (kernel, kernel), axis=(2, 3))[:, :, ::stride, ::stride]
    cells = view.reshape(*view.shape[:4], kernel * kernel)
    local = cells.argmax(axis=-1)
    rows = np.maximum(stride * np.arange(view.shape[2])[:, None] + local // kernel - padding, 0)
    columns = np.maximum(stride * np.arange(view.shape[3]) + local % kernel - padding, 0)
    y = cells.max(axis=-1)
    index = rows * w + columns

    def route(grad_y):
        planes = np.arange(n * c).reshape(n, c, 1, 1)
        grad_x = np.zeros(x.size, x.dtype)
        np.add.at(grad_x, (planes * (h * w) + index).ravel(), grad_y.ravel())
        return grad_x.reshape(x.shape)

    return y, route


def maxpool2d_backward(grad_y, ctx):
    return ctx(grad_y)


# %% searches_again_in_backward
"""Keeps the x of the caller and searches for the winners again: right, but over the budget."""

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view


def maxpool2d_forward(x, kernel, stride, padding=0):
    n, c, h, w = x.shape
    frame = np.full((n, c, h + 2 * padding, w + 2 * padding), -np.inf, x.dtype)
    frame[:, :, padding : padding + h, padding : padding + w] = x
    view = sliding_window_view(frame, (kernel, kernel), axis=(2, 3))[:, :, ::stride, ::stride]
    cells = view.reshape(*view.shape[:4], kernel * kernel)
    y = cells.max(axis=-1)
    return y, (x, kernel, stride, padding)


def maxpool2d_backward(grad_y, ctx):
    x, kernel, stride, padding = ctx
    n, c, h, w = x.shape
    padded = np.pad(x, ((0, 0), (0, 0), (padding,) * 2, (padding,) * 2), constant_values=-np.inf)
    view = sliding_window_view(padded, (kernel, kernel), axis=(2, 3))[:, :, ::stride, ::stride]
    local = view.reshape(*view.shape[:4], kernel * kernel).argmax(axis=-1)
    rows = np.maximum(stride * np.arange(view.shape[2])[:, None] + local // kernel - padding, 0)
    columns = np.maximum(stride * np.arange(view.shape[3]) + local % kernel - padding, 0)
    index = rows * w + columns
    planes = np.arange(n * c).reshape(n, c, 1, 1)
    grad_x = np.zeros(n * c * h * w, x.dtype)
    np.add.at(grad_x, (planes * (h * w) + index).ravel(), grad_y.ravel())
    return grad_x.reshape(n, c, h, w)


# %% ties_go_to_the_lowest_row_first_column
"""Ties go to the last row, and within it to the first column."""

import numpy as np


class _Pool:
    def __init__(self, shape, kernel, stride, padding):
        self.shape, self.kernel, self.stride, self.padding = shape, kernel, stride, padding
        self.down = (shape[2] + 2 * padding - kernel) // stride + 1
        self.across = (shape[3] + 2 * padding - kernel) // stride + 1

    def cells(self):
        """Yield, per cell of the kernel, the plane's rows and columns and which windows have them."""
        for a in reversed(range(self.kernel)):
            rows = np.arange(self.down) * self.stride - self.padding + a
            for b in range(self.kernel):
                cols = np.arange(self.across) * self.stride - self.padding + b
                real = np.logical_and.outer(
                    (rows >= 0) & (rows < self.shape[2]), (cols >= 0) & (cols < self.shape[3])
                )
                if real.any():
                    yield rows.clip(0, self.shape[2] - 1), cols.clip(0, self.shape[3] - 1), real


def maxpool2d_forward(x, kernel, stride, padding=0):
    pool = _Pool(x.shape, kernel, stride, padding)
    size = (*x.shape[:2], pool.down, pool.across)
    y, place = np.full(size, -np.inf, x.dtype), np.full(size, -1, np.int64)
    for rows, cols, real in pool.cells():
        seen = x[:, :, rows[:, None], cols]
        better = real & ((place < 0) | (seen > y))
        y = np.where(better, seen, y)
        place = np.where(better, rows[:, None] * x.shape[3] + cols, place)
    return y, (place, x.shape, x.dtype)


def maxpool2d_backward(grad_y, ctx):
    place, (n, c, h, w), dtype = ctx
    grad_x = np.zeros((n * c, h * w), dtype)
    flat = place.reshape(n * c, place.shape[2] * place.shape[3])
    for plane, at, grad in zip(grad_x, flat, grad_y.reshape(flat.shape), strict=True):
        np.add.at(plane, at, grad)
    return grad_x.reshape(n, c, h, w)


# %% style_a
"""Wrong: what gradient_used_up and others have in common, which is not right yet."""

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view


def maxpool2d_forward(x, kernel, stride, padding=0):
    n, c, h, w = x.shape
    frame = np.full((n, c, h + 2 * padding, w + 2 * padding), -np.inf, x.dtype)
    frame[:, :, padding : padding + h, padding : padding + w] = x
    view = sliding_window_view(frame, (kernel, kernel), axis=(2, 3))[:, :, ::stride, ::stride]
    cells = view.reshape(*view.shape[:4], kernel * kernel)
    local = cells.argmax(axis=-1)
    rows = np.maximum(stride * np.arange(view.shape[2])[:, None] + local // kernel - padding, 0)
    columns = np.maximum(stride * np.arange(view.shape[3]) + local % kernel - padding, 0)
    y = cells.max(axis=-1)
    return y, {"index": rows * w + columns, "shape": x.shape, "dtype": x.dtype}


def maxpool2d_backward(grad_y, ctx):
    n, c, h, w = ctx["shape"]
    planes = np.arange(n * c).reshape(n, c, 1, 1)
    grad_x = np.zeros(n * c * h * w, ctx["dtype"])
    np.add.at(grad_x, (planes * (h * w) + ctx["index"]).ravel(), grad_y.ravel())
    return grad_x.reshape(n, c, h, w)


# %% style_b
"""Wrong: what shared_by_the_windows_won and others have in common, which is not right yet."""

import numpy as np


def maxpool2d_forward(x, kernel, stride, padding=0):
    n, c, h, w = x.shape
    down = (h + 2 * padding - kernel) // stride + 1
    across = (w + 2 * padding - kernel) // stride + 1
    y = np.empty((n, c, down, across), x.dtype)
    where = np.zeros((2, n, c, down, across), np.int32)
    for i in range(down):
        top, bottom = max(i * stride - padding, 0), min(i * stride - padding + kernel, h)
        for j in range(across):
            left, right = max(j * stride - padding, 0), min(j * stride - padding + kernel, w)
            window = x[:, :, top:bottom, left:right].reshape(n, c, (bottom - top) * (right - left))
            first = window.argmax(axis=2)
            y[:, :, i, j] = np.take_along_axis(window, first[:, :, None], axis=2)[:, :, 0]
            where[0, :, :, i, j] = top + first // (right - left)
            where[1, :, :, i, j] = left + first % (right - left)
    return y, {"where": where, "like": (x.shape, x.dtype.str)}


def maxpool2d_backward(grad_y, ctx):
    shape, dtype = ctx["like"]
    grad_x = np.zeros(shape, np.dtype(dtype))
    image, channel = np.ogrid[: shape[0], : shape[1]]
    np.add.at(grad_x, (image[..., None, None], channel[..., None, None], *ctx["where"]), grad_y)
    return grad_x
