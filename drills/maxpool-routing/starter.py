"""Max pooling over (N, C, H, W) maps, ported from the inference kernel.

The forward pass is bit-exact with the framework. The backward pass was added for the training job.
"""

from dataclasses import dataclass

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view


@dataclass(frozen=True)
class Context:
    """The geometry of one forward pass: a few numbers, whatever the size of the map."""

    shape: tuple
    dtype: np.dtype
    kernel: int
    stride: int
    padding: int


def maxpool2d_forward(x, kernel, stride, padding=0):
    """Return y, the maximum of every window, and a ctx for the backward pass.

    x is (N, C, H, W) and y is (N, C, Ho, Wo), with the output size rounded down.
    """
    sides = (padding, padding)
    padded = np.pad(x, ((0, 0), (0, 0), sides, sides), constant_values=-np.inf)
    windows = sliding_window_view(padded, (kernel, kernel), axis=(2, 3))
    y = windows[:, :, ::stride, ::stride].max(axis=(-2, -1))
    return y, Context(x.shape, x.dtype, kernel, stride, padding)


def maxpool2d_backward(grad_y, ctx):
    """Return grad_x, (N, C, H, W): the gradient of every output, sent back to its window.

    Windows that overlap add up, and the total of each plane is that of grad_y.
    """
    height, width = ctx.shape[2:]
    grad_x = np.zeros(ctx.shape, dtype=ctx.dtype)
    for i in range(grad_y.shape[2]):
        top = i * ctx.stride - ctx.padding
        rows = slice(max(top, 0), min(top + ctx.kernel, height))
        for j in range(grad_y.shape[3]):
            left = j * ctx.stride - ctx.padding
            columns = slice(max(left, 0), min(left + ctx.kernel, width))
            window = grad_x[:, :, rows, columns]
            window += grad_y[:, :, i, j, None, None] / (window.shape[2] * window.shape[3])
    return grad_x
