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
