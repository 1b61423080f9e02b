"""A list of (cell, window) pairs for one plane; backward weighs them with np.bincount."""

import numpy as np


def _pairs(shape, kernel, stride, padding, counted, up):
    axes = []
    for length in shape[2:]:
        room = length + 2 * padding - kernel
        starts = np.arange(0, room + (stride if up else 1), stride) - padding
        starts = starts[starts < length]
        window, cell = np.divmod(np.arange(len(starts) * kernel), kernel)
        cell += starts[window]
        keep = (cell >= 0) & (cell < length)
        counts = cell < length + padding if counted else keep
        axes.append((window[keep], cell[keep], np.bincount(window, counts), len(starts)))
    return axes


def avgpool2d_forward(x, kernel, stride, padding, count_include_pad, ceil_mode=False):
    settings = kernel, stride, padding, count_include_pad, ceil_mode
    (i, r, tall, down), (j, c, broad, across) = _pairs(x.shape, *settings)
    window = (i[:, None] * across + j).ravel()
    y = np.zeros((*x.shape[:2], down, across), x.dtype)
    for place in np.ndindex(*x.shape[:2]):
        weights = x[place][np.ix_(r, c)].ravel()
        sums = np.bincount(window, weights, minlength=down * across).reshape(down, across)
        y[place] = sums / np.outer(tall, broad)
    return y, [x.shape, x.dtype, settings]


def avgpool2d_backward(grad_y, ctx):
    shape, dtype, settings = ctx
    (i, r, tall, _), (j, c, broad, _) = _pairs(shape, *settings)
    cell = (r[:, None] * shape[3] + c).ravel()
    grad_x = np.zeros(shape, dtype)
    for place in np.ndindex(*shape[:2]):
        share = grad_y[place] / np.outer(tall, broad)
        total = np.bincount(cell, share[np.ix_(i, j)].ravel(), minlength=shape[2] * shape[3])
        grad_x[place] = total.reshape(shape[2:])
    return grad_x
