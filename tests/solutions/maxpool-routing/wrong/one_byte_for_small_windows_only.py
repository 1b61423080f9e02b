"""One byte for windows of up to 5 x 5 only."""

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view


def maxpool2d_forward(x, kernel, stride, padding=0):
    n, c, h, w = x.shape
    frame = np.full((n, c, h + 2 * padding, w + 2 * padding), -np.inf, x.dtype)
    frame[:, :, padding : padding + h, padding : padding + w] = x
    view = sliding_window_view(frame, (kernel, kernel), axis=(2, 3))[:, :, ::stride, ::stride]
    flat = view.reshape(*view.shape[:4], kernel * kernel)
    local = flat.argmax(axis=-1)
    narrow = local.astype("u1" if kernel * kernel <= 25 else "u2" if kernel < 257 else "u4")
    y = np.take_along_axis(flat, local[..., None], axis=-1)[..., 0].copy()
    return y, (narrow, h, w, kernel, stride, padding)


def maxpool2d_backward(grad_y, ctx):
    narrow, h, w, kernel, stride, padding = ctx
    n, c, ho, wo = grad_y.shape
    rows, columns = np.divmod(narrow.astype(np.intp), kernel)
    rows += stride * np.arange(ho)[:, None] - padding
    columns += stride * np.arange(wo) - padding
    index = rows.clip(0) * w + columns.clip(0)
    out = np.zeros((n, c, h * w), grad_y.dtype)
    b, ch = np.indices((n, c))
    where = (b[..., None, None], ch[..., None, None], index)
    np.add.at(out, where, grad_y)
    return out.reshape(n, c, h, w)
