"""Windows as the columns of one matrix, as image courses teach it: one column per output."""

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
    y = largest[:, :, 0].reshape(n, c, down, across)
    winner = winner.astype(np.min_scalar_type(kernel * kernel - 1))
    return y, (winner, x.shape, x.dtype, kernel, stride, padding)


def maxpool2d_backward(grad_y, ctx):
    winner, shape, dtype, kernel, stride, padding = ctx
    n, c, h, w = shape
    rows, cols, _, _ = _indices(shape, kernel, stride, padding)
    flat = (rows - padding) * w + cols - padding
    place = flat[winner, np.arange(flat.shape[1])]
    grad_x = np.zeros((n, c, h * w), dtype)
    gradients = grad_y.reshape(n, c, place.shape[2])
    for output in range(place.shape[2]):  # of one output no plane is named twice
        at = place[:, :, output, None]
        before = np.take_along_axis(grad_x, at, axis=2)
        np.put_along_axis(grad_x, at, before + gradients[:, :, output, None], axis=2)
    return grad_x.reshape(shape)
