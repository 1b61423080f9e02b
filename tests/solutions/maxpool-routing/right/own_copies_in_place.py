"""Works in place, on copies of its own, which are cleared as soon as they have been read."""

import numpy as np


def maxpool2d_forward(x, kernel, stride, padding=0):
    x = np.array(x, order="C", copy=True)
    n, c, h, w = x.shape
    planes = x.reshape(n * c, h, w)
    ho = (h + 2 * padding - kernel) // stride + 1
    wo = (w + 2 * padding - kernel) // stride + 1
    y = np.empty((n * c, ho, wo), x.dtype)
    index = np.empty((n * c, ho, wo), np.min_scalar_type(kernel * kernel - 1))
    grid = np.arange(h)[:, None] * kernel + np.arange(w)  # rows as long as those of a window
    for i in range(ho):
        for j in range(wo):
            top, left = i * stride - padding, j * stride - padding
            window = np.s_[max(top, 0) : top + kernel, max(left, 0) : left + kernel]
            names = (grid[window] - top * kernel - left).ravel()
            values = planes[(slice(None), *window)].reshape(n * c, names.size)
            local = values.argmax(axis=1)
            y[:, i, j] = values[np.arange(n * c), local]
            index[:, i, j] = names[local]
    planes[...] = 0  # the copy is scratch, the caller's x is not
    return y.reshape(n, c, ho, wo), (index, (n, c, h, w), x.dtype, (kernel, stride, padding))


def maxpool2d_backward(grad_y, ctx):
    index, shape, dtype, (kernel, stride, padding) = ctx
    down, across = np.divmod(index.astype(np.int64), kernel)
    down += stride * np.arange(index.shape[1])[:, None] - padding
    across += stride * np.arange(index.shape[2]) - padding
    down *= shape[3]
    down += across
    index = down
    gradient = np.array(grad_y, copy=True, order="C")
    out = np.zeros((shape[0] * shape[1], shape[2] * shape[3]), dtype)
    plane = np.arange(len(out))
    flat_index = index.reshape(len(out), gradient.shape[2] * gradient.shape[3])
    flat_gradient = gradient.reshape(flat_index.shape)
    for k in range(flat_index.shape[1]):
        out[plane, flat_index[:, k]] += flat_gradient[:, k]
        flat_gradient[:, k] = 0
    return out.reshape(shape)
