"""functools.partial everywhere: for the public functions, and as the ctx itself."""

import functools

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view


def _spread(shape, dtype, local, kernel, stride, padding, grad_y):
    n, c, h, w = shape
    i, j = np.ogrid[: local.shape[2], : local.shape[3]]
    row = np.clip(i * stride - padding + local // kernel, 0, h - 1)
    column = np.clip(j * stride - padding + local % kernel, 0, w - 1)
    plane = np.arange(n * c).reshape(n, c, 1, 1)
    index = (plane * h + row) * w + column
    size = int(np.prod(shape))
    flat = np.zeros(size, dtype)
    np.add.at(flat, index.ravel(), grad_y.ravel())
    return flat.reshape(shape)


def _pool(lowest, x, kernel, stride, padding=0):
    n, c, h, w = x.shape
    wide = np.pad(x, ((0,), (0,), (padding,), (padding,)), constant_values=lowest)
    view = sliding_window_view(wide, (kernel, kernel), axis=(2, 3))[:, :, ::stride, ::stride]
    ho, wo = view.shape[2:4]
    local = view.reshape(n, c, ho, wo, kernel * kernel).argmax(axis=-1)
    local = local.astype(np.min_scalar_type(kernel * kernel - 1))
    kept = functools.partial(_spread, x.shape, x.dtype, local, kernel, stride, padding)
    return view.max(axis=(4, 5)), kept


def _back(grad_y, ctx):
    return ctx(grad_y)


maxpool2d_forward = functools.partial(_pool, -np.inf)
maxpool2d_backward = functools.partial(_back)
