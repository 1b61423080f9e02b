"""Max pooling over (N, C, H, W) maps, ported from the inference kernel."""

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view


def maxpool2d_forward(x, kernel, stride, padding=0):
    """Return y (N, C, Ho, Wo), the maximum of every window, and a ctx."""
    sides = (padding, padding)
    margins = ((0, 0), (0, 0), sides, sides)
    padded = np.pad(x, margins, constant_values=-np.inf)
    windows = sliding_window_view(padded, (kernel, kernel), axis=(2, 3))
    windows = windows[:, :, ::stride, ::stride]
    windows = windows.reshape(*windows.shape[:4], -1)
    winner = windows.argmax(axis=-1)  # place inside the window, row by row
    return windows.max(axis=-1), (winner, x.shape, kernel, padding)


def maxpool2d_backward(grad_y, ctx):
    """Return grad_x (N, C, H, W): every gradient goes to its window's winner."""
    winner, (n, c, height, width), kernel, padding = ctx
    down, across = winner.shape[2:]
    rows = kernel * np.arange(down)[:, None] + winner // kernel
    columns = kernel * np.arange(across) + winner % kernel

    # Leave room for windows that reach past the plane, and cut it off again.
    frame_height = max(height + 2 * padding, kernel * down)
    frame_width = max(width + 2 * padding, kernel * across)
    grad_frame = np.zeros((n, c, frame_height, frame_width))
    image, channel = np.ogrid[:n, :c]
    image, channel = image[..., None, None], channel[..., None, None]
    grad_frame[image, channel, rows, columns] += grad_y
    bottom, right = padding + height, padding + width
    return grad_frame[:, :, padding:bottom, padding:right]
