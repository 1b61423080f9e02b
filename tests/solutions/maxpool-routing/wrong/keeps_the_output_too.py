"""Keeps y beside an int32 index: 12 bytes per output in float64."""

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
    index = (rows * w + columns).astype(np.int32)
    return y, {"index": index, "y": y.copy(), "shape": x.shape, "dtype": x.dtype}


def maxpool2d_backward(grad_y, ctx):
    n, c, h, w = ctx["shape"]
    planes = np.arange(n * c).reshape(n, c, 1, 1)
    grad_x = np.zeros(n * c * h * w, ctx["dtype"])
    np.add.at(grad_x, (planes * (h * w) + ctx["index"]).ravel(), grad_y.ravel())
    return grad_x.reshape(n, c, h, w)
