"""A loop over output positions, vectorised over planes; windows are clipped, nothing is padded."""

import numpy as np


def _spans(size, outputs, kernel, stride, padding):
    for i in range(outputs):
        start = i * stride - padding
        yield i, max(start, 0), min(start + kernel, size)


def maxpool2d_forward(x, kernel, stride, padding=0):
    n, c, h, w = x.shape
    ho = (h + 2 * padding - kernel) // stride + 1
    wo = (w + 2 * padding - kernel) // stride + 1
    y = np.empty((n, c, ho, wo), x.dtype)
    rows = np.empty((n, c, ho, wo), np.int32)
    columns = np.empty((n, c, ho, wo), np.int32)
    for i, top, bottom in _spans(h, ho, kernel, stride, padding):
        for j, left, right in _spans(w, wo, kernel, stride, padding):
            window = x[:, :, top:bottom, left:right].reshape(n, c, (bottom - top) * (right - left))
            y[:, :, i, j] = window.max(axis=-1)
            r, q = np.divmod(window.argmax(axis=-1), right - left)
            rows[:, :, i, j] = top + r
            columns[:, :, i, j] = left + q
    return y, (rows, columns, x.shape)


def maxpool2d_backward(grad_y, ctx):
    rows, columns, shape = ctx
    grad_x = np.zeros(shape, grad_y.dtype)
    b, ch = np.ogrid[: shape[0], : shape[1]]
    for i in range(grad_y.shape[2]):
        for j in range(grad_y.shape[3]):
            # Within one output position every plane is named once, so += is safe here.
            grad_x[b, ch, rows[:, :, i, j], columns[:, :, i, j]] += grad_y[:, :, i, j]
    return grad_x
