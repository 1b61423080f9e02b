"""All channels get the gradient of the first."""

import numpy as np


def _starts(length, kernel, stride, padding, up):
    room = length + 2 * padding - kernel
    windows = (-(-room // stride) if up else room // stride) + 1
    if (windows - 1) * stride >= length + padding:
        windows -= 1
    return np.arange(windows) * stride - padding


def _counts(length, kernel, stride, padding, counted, up):
    starts = _starts(length, kernel, stride, padding, up)
    if counted:
        return np.minimum(starts + kernel, length + padding) - starts
    return np.minimum(starts + kernel, length) - np.maximum(starts, 0)


def avgpool2d_forward(x, kernel, stride, padding, count_include_pad, ceil_mode=False):
    n, c, h, w = x.shape
    tall = _counts(h, kernel, stride, padding, count_include_pad, ceil_mode)
    broad = _counts(w, kernel, stride, padding, count_include_pad, ceil_mode)
    divisor = np.outer(tall, broad).astype(x.dtype)
    frame = np.zeros((n, c, h + 2 * padding + kernel, w + 2 * padding + kernel), x.dtype)
    frame[:, :, padding : padding + h, padding : padding + w] = x
    y = np.zeros((n, c, *divisor.shape), x.dtype)
    for i in range(len(tall)):
        for j in range(len(broad)):
            top, left = i * stride, j * stride
            window = frame[:, :, top : top + kernel, left : left + kernel]
            y[:, :, i, j] = window.sum(axis=(2, 3)) / divisor[i, j]
    ctx = {"shape": x.shape, "divisor": divisor, "settings": (kernel, stride, padding)}
    return y, ctx


def avgpool2d_backward(grad_y, ctx):
    (n, c, h, w), divisor = ctx["shape"], ctx["divisor"]
    kernel, stride, padding = ctx["settings"]
    frame = np.zeros((n, c, h + 2 * padding + kernel, w + 2 * padding + kernel), divisor.dtype)
    share = np.broadcast_to(grad_y[:, :1], grad_y.shape) / divisor
    for i in range(divisor.shape[0]):
        for j in range(divisor.shape[1]):
            top, left = i * stride, j * stride
            frame[:, :, top : top + kernel, left : left + kernel] += share[:, :, i, j, None, None]
    return frame[:, :, padding : padding + h, padding : padding + w].copy()
