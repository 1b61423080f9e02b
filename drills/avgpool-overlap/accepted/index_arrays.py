"""Every cell of every window by its index: take to gather, np.add.at to scatter, in float64."""

import numpy as np


def _index(shape, settings):
    """Return (Ho, k) rows and (Wo, k) columns in the plane, -1 outside, and the divisors."""
    kernel, stride, padding, counted, rounded_up = settings
    places, counts = [], []
    for length in shape[2:]:
        room = length + 2 * padding - kernel
        windows = (room + (stride - 1 if rounded_up else 0)) // stride + 1
        starts = np.arange(windows) * stride - padding
        starts = starts[starts < length]
        cells = starts[:, None] + np.arange(kernel)
        inside = (cells >= 0) & (cells < length)
        there = cells < length + padding if counted else inside
        places.append(np.where(inside, cells, -1))
        counts.append(there.sum(axis=1))
    return *places, np.multiply.outer(*counts)


def avgpool2d_forward(x, kernel, stride, padding, count_include_pad, ceil_mode=False):
    settings = kernel, stride, padding, count_include_pad, ceil_mode
    rows, columns, divisor = _index(x.shape, settings)
    wide = np.zeros((*x.shape[:2], x.shape[2] + 1, x.shape[3] + 1))
    wide[:, :, :-1, :-1] = x  # index -1 is a row, or a column, of zeros
    cells = wide[:, :, rows[:, None, :, None], columns[None, :, None, :]]
    y = cells.sum(axis=(4, 5)) / divisor
    return y.astype(x.dtype), (x.shape, x.dtype.str, settings)


def avgpool2d_backward(grad_y, ctx):
    shape, dtype, settings = ctx
    rows, columns, divisor = _index(shape, settings)
    share = np.asarray(grad_y, np.float64) / divisor
    wide = np.zeros((*shape[:2], shape[2] + 1, shape[3] + 1))
    place = np.s_[:, :, rows[:, None, :, None], columns[None, :, None, :]]
    np.add.at(wide, place, share[..., None, None])
    return wide[:, :, :-1, :-1].astype(dtype)
