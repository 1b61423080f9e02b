"""The starter, with as few lines changed as its three parts want."""

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view


def _windows(frame, kernel, stride):
    """Return the windows of a padded plane, (N, C, Ho, Wo, kernel, kernel)."""
    windows = sliding_window_view(frame, (kernel, kernel), axis=(2, 3))
    return windows[:, :, ::stride, ::stride]


def avgpool2d_forward(x, kernel, stride, padding, count_include_pad, ceil_mode=False):
    """Return y (N, C, Ho, Wo), the average of every window, and a ctx for the backward pass."""
    beyond = [0, 0]
    if ceil_mode:
        for axis, length in enumerate(x.shape[2:]):
            missing = -(length + 2 * padding - kernel) % stride
            starts = length + 2 * padding - kernel + missing
            beyond[axis] = missing if starts < length + padding else 0
    sides = ((0, 0), (0, 0), (padding, padding), (padding, padding))
    more = ((0, 0), (0, 0), (0, beyond[0]), (0, beyond[1]))
    windows = _windows(np.pad(np.pad(x, sides), more), kernel, stride)
    one = np.ones((1, 1, *x.shape[2:]), x.dtype)
    inside = np.pad(np.pad(one, sides, constant_values=count_include_pad), more)
    count = _windows(inside, kernel, stride).sum(axis=(4, 5))
    return windows.sum(axis=(4, 5)) / count, (count, x.shape, kernel, stride, padding)


def avgpool2d_backward(grad_y, ctx):
    """Return grad_x (N, C, H, W): every cell of a window gets an equal share of its gradient."""
    count, (n, c, height, width), kernel, stride, padding = ctx
    shares = grad_y / count
    frame = np.zeros((n, c, height + 2 * padding + kernel, width + 2 * padding + kernel), count.dtype)
    for i in range(grad_y.shape[2]):
        for j in range(grad_y.shape[3]):
            window = np.s_[:, :, i * stride : i * stride + kernel, j * stride : j * stride + kernel]
            frame[window] += shares[:, :, i, j, None, None]
    return frame[:, :, padding : padding + height, padding : padding + width].copy()
