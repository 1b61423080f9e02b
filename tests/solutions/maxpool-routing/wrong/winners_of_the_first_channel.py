"""The winners of channel 0 are used for all channels of an image."""

import numpy as np


def _indices(shape, kernel, stride, padding):
    _, _, h, w = shape
    down = (h + 2 * padding - kernel) // stride + 1
    across = (w + 2 * padding - kernel) // stride + 1
    rows = np.repeat(np.arange(kernel), kernel)[:, None] + stride * np.repeat(
        np.arange(down), across
    )
    cols = np.tile(np.arange(kernel), kernel)[:, None] + stride * np.tile(np.arange(across), down)
    return rows, cols, down, across


def maxpool2d_forward(x, kernel, stride, padding=0):
    n, c, h, w = x.shape
    rows, cols, down, across = _indices(x.shape, kernel, stride, padding)
    inside = (rows >= padding) & (rows < padding + h) & (cols >= padding) & (cols < padding + w)
    flat = np.where(inside, (rows - padding) * w + cols - padding, 0)
    columns = np.where(inside, x.reshape(n, c, h * w)[:, :, flat], -np.inf).astype(x.dtype)
    # Padding ties with minus infinity: among what is as large as the maximum, an entry comes first.
    largest = columns.max(axis=2, keepdims=True)
    winner = ((columns == largest) & inside).argmax(axis=2)
    place = np.take_along_axis(np.broadcast_to(flat, columns.shape), winner[:, :, None], axis=2)[
        :, :, 0
    ]
    y = largest[:, :, 0].reshape(n, c, down, across)
    place = np.repeat(place[:, :1], c, axis=1)
    return y, (place.astype(np.int64), x.shape, x.dtype)


def maxpool2d_backward(grad_y, ctx):
    place, shape, dtype = ctx
    n, c, h, w = shape
    grad_x = np.zeros((n, c, h * w), dtype)
    gradients = grad_y.reshape(n, c, place.shape[2])
    for output in range(place.shape[2]):  # of one output no plane is named twice
        at = place[:, :, output, None]
        before = np.take_along_axis(grad_x, at, axis=2)
        np.put_along_axis(grad_x, at, before + gradients[:, :, output, None], axis=2)
    return grad_x.reshape(shape)
