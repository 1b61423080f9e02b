"""Style: saved by an editor that writes a byte order mark and CRLF line ends."""

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view


def conv1d_forward(x, w, b, stride=1, padding=0):
    padded = np.pad(x, ((0, 0), (0, 0), (padding, padding)))
    windows = sliding_window_view(padded, w.shape[2], axis=2)[:, :, ::stride]
    y = np.einsum("nctk,ock->not", windows, w) + b[:, None]
    return y, (padded, windows, w, stride, padding)


def conv1d_backward(grad_y, cache):
    padded, windows, w, stride, padding = cache
    grad_padded = np.zeros_like(padded)
    for t in range(grad_y.shape[2]):
        piece = np.tensordot(grad_y[:, :, t], w, axes=1)
        grad_padded[:, :, t * stride : t * stride + w.shape[2]] += piece
    grad_x = grad_padded[:, :, padding : padded.shape[2] - padding]
    return grad_x, np.einsum("not,nctk->ock", grad_y, windows), grad_y.sum(axis=(0, 2))


def train_step(w, b, x, target, lr, stride=1, padding=0):
    y, cache = conv1d_forward(x, w, b, stride, padding)
    residual = y - target
    _, grad_w, grad_b = conv1d_backward(2.0 * residual / residual.size, cache)
    return w - lr * grad_w, b - lr * grad_b, float(np.mean(residual**2))
