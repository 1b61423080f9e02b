"""Average pooling over (N, C, H, W) maps."""

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view


def _windows(frame, kernel, stride):
    """Return the windows of a padded plane, (N, C, Ho, Wo, kernel, kernel)."""
    windows = sliding_window_view(frame, (kernel, kernel), axis=(2, 3))
    return windows[:, :, ::stride, ::stride]


def avgpool2d_forward(x, kernel, stride, padding, count_include_pad):
    """Return y (N, C, Ho, Wo), the average of every window, and a ctx for the backward pass."""
    sides = ((0, 0), (0, 0), (padding, padding), (padding, padding))
    windows = _windows(np.pad(x, sides), kernel, stride)
    if count_include_pad:
        y = windows.mean(axis=(4, 5))
    else:
        inside = _windows(np.pad(np.ones_like(x), sides), kernel, stride)
        y = windows.sum(axis=(4, 5)) / inside.sum(axis=(4, 5))
    return y, (x, kernel, padding)


def avgpool2d_backward(grad_y, ctx):
    """Return grad_x (N, C, H, W): every cell of a window gets an equal share of its gradient."""
    x, kernel, padding = ctx
    n, c, height, width = x.shape
    shares = (grad_y / kernel**2).repeat(kernel, axis=2).repeat(kernel, axis=3)

    # Rows and columns may be left over at the end, or be missing there.
    frame = np.zeros((n, c, height + 2 * padding, width + 2 * padding))
    shares = shares[:, :, : frame.shape[2], : frame.shape[3]]
    frame[:, :, : shares.shape[2], : shares.shape[3]] = shares
    return frame[:, :, padding : padding + height, padding : padding + width]
