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
    # Bounds at the plane's edges can be worked out again: only the place in what is left is kept.
    places = np.empty((n, c, ho, wo), np.min_scalar_type(kernel * kernel - 1))
    for i, top, bottom in _spans(h, ho, kernel, stride, padding):
        for j, left, right in _spans(w, wo, kernel, stride, padding):
            window = x[:, :, top:bottom, left:right].reshape(n, c, (bottom - top) * (right - left))
            y[:, :, i, j] = window.max(axis=-1)
            places[:, :, i, j] = window.argmax(axis=-1)
    return y, (places, x.shape, kernel, stride, padding)


def maxpool2d_backward(grad_y, ctx):
    places, shape, *window = ctx
    grad_x = np.zeros(shape, grad_y.dtype)
    b, ch = np.ogrid[: shape[0], : shape[1]]
    for i, top, _ in _spans(shape[2], grad_y.shape[2], *window):
        for j, left, right in _spans(shape[3], grad_y.shape[3], *window):
            r, q = np.divmod(places[:, :, i, j].astype(np.intp), right - left)
            # Within one output position every plane is named once, so += is safe here.
            grad_x[b, ch, top + r, left + q] += grad_y[:, :, i, j]
    return grad_x
