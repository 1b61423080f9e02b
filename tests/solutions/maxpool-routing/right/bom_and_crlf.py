"""A file with a byte order mark and CRLF line endings, as some editors write them."""

import numpy as np


def maxpool2d_forward(x, kernel, stride, padding=0):
    """Größe abgerundet; der erste Höchstwert gewinnt."""
    n, c, h, w = x.shape
    rows = [
        range(max(i, 0), min(i + kernel, h))
        for i in range(-padding, h + padding - kernel + 1, stride)
    ]
    columns = [
        range(max(j, 0), min(j + kernel, w))
        for j in range(-padding, w + padding - kernel + 1, stride)
    ]
    y = np.empty((n, c, len(rows), len(columns)), x.dtype)
    winners = np.empty(y.shape, np.min_scalar_type(kernel * kernel - 1))
    for i, down in enumerate(rows):
        for j, across in enumerate(columns):
            window = x[:, :, down.start : down.stop, across.start : across.stop]
            top, left = i * stride - padding, j * stride - padding
            names = np.add.outer((np.array(down) - top) * kernel, np.array(across) - left).ravel()
            flat = window.reshape(n, c, names.size)
            winners[:, :, i, j] = names[flat.argmax(axis=-1)]
            y[:, :, i, j] = flat.max(axis=-1)
    return y, {"winners": winners, "shape": x.shape, "window": (kernel, stride, padding)}


def maxpool2d_backward(grad_y, ctx):
    n, c, h, w = ctx["shape"]
    grad_x = np.zeros((n, c, h * w), grad_y.dtype)
    kernel, stride, padding = ctx["window"]
    i, j = np.indices(grad_y.shape[2:])
    for b in range(n):
        for ch in range(c):
            down, across = np.divmod(ctx["winners"][b, ch].astype(int), kernel)
            down, across = down + i * stride - padding, across + j * stride - padding
            winners = (down * w + across).ravel()
            np.add.at(grad_x[b, ch], winners, grad_y[b, ch].ravel())
    return grad_x.reshape(n, c, h, w)
