"""The ctx is a function that closes over the winners; backward only calls it."""

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view


def maxpool2d_forward(x, kernel, stride, padding=0):
    shape, dtype = x.shape, x.dtype
    n, c, h, w = shape
    frame = np.pad(
        x, [(0, 0), (0, 0), (padding, padding), (padding, padding)], constant_values=-np.inf
    )
    names = np.full(frame.shape[2:], -1, np.int64)
    names[padding : padding + h, padding : padding + w] = np.arange(h * w).reshape(h, w)

    def cut(array):
        view = sliding_window_view(array, (kernel, kernel), axis=(-2, -1))
        view = view[..., ::stride, ::stride, :, :]
        return view.reshape(*view.shape[:-2], kernel * kernel)

    values, named = cut(frame), cut(names)
    local = values.argmax(axis=-1)
    winners = np.take_along_axis(np.broadcast_to(named, values.shape), local[..., None], -1)[..., 0]
    local = np.where(winners < 0, (named >= 0).argmax(axis=-1), local)
    local = local.astype(np.min_scalar_type(kernel * kernel - 1))

    def route(grad_y):
        row = stride * np.arange(grad_y.shape[2])[:, None] - padding + local // kernel
        column = stride * np.arange(grad_y.shape[3]) - padding + local % kernel
        grad_x = np.zeros((n, c, h, w), dtype)
        b, ch = np.ogrid[:n, :c]
        b, ch = b[..., None, None], ch[..., None, None]
        np.add.at(grad_x, (b, ch, row, column), grad_y)
        return grad_x

    return values.max(axis=-1), route


def maxpool2d_backward(grad_y, ctx):
    return ctx(grad_y)
