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
    # why 2: With an empty batch numpy cannot tell what -1 stands for, and
    #      raises.
    windows = windows.reshape(*windows.shape[:4], kernel * kernel)
    winner = windows.argmax(axis=-1)  # place inside the window, row by row
    # why 3: argmax gives eight bytes; a place below 256 fits one byte, one
    #      below 65,536 two.
    winner = winner.astype(np.min_scalar_type(kernel * kernel - 1))
    # why: Windows start a stride apart, so backward needs the stride as well.
    return windows.max(axis=-1), (winner, x.shape, kernel, stride, padding)


def maxpool2d_backward(grad_y, ctx):
    """Return grad_x (N, C, H, W): each gradient goes to its window's winner."""
    # why: What forward saved, in the same order.
    winner, (n, c, height, width), kernel, stride, padding = ctx
    down, across = winner.shape[2:]
    # why: Window (i, j) starts at (i * stride, j * stride) of the padded plane;
    #      only where the stride equals the kernel is that what the starter had.
    rows = stride * np.arange(down)[:, None] + winner // kernel
    columns = stride * np.arange(across) + winner % kernel
    # why 2: In a window of minus infinity alone the padding ties with the
    #      elements, and argmax takes it; the nearest row and column of the
    #      plane are the first real ones.
    rows, columns = np.maximum(rows, padding), np.maximum(columns, padding)

    # Leave room for windows that reach past the plane, and cut it off again.
    frame_height = max(height + 2 * padding, kernel * down)
    frame_width = max(width + 2 * padding, kernel * across)
    # why 2: np.zeros is float64 unless a dtype is given, and float32 has to
    #      stay float32.
    grad_frame = np.zeros((n, c, frame_height, frame_width), grad_y.dtype)
    image, channel = np.ogrid[:n, :c]
    image, channel = image[..., None, None], channel[..., None, None]
    # why: Where an index occurs twice, += with an index array keeps one of the
    #      values; np.add.at adds them all.
    np.add.at(grad_frame, (image, channel, rows, columns), grad_y)
    bottom, right = padding + height, padding + width
    return grad_frame[:, :, padding:bottom, padding:right]
