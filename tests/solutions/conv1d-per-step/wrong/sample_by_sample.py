"""Wrong: train_step updates after every sample instead of once for the batch."""

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view


def conv1d_forward(x, w, b, stride=1, padding=0):
    padded = np.pad(x, ((0, 0), (0, 0), (padding, padding)))
    windows = sliding_window_view(padded, w.shape[2], axis=2)[:, :, ::stride]
    y = np.einsum("nctk,ock->not", windows, w) + b[:, None]
    return y, (padded, windows, w, stride, padding)


def conv1d_backward(grad_y, cache):
    padded, windows, w, stride, padding = cache
    grad_w = np.einsum("not,nctk->ock", grad_y, windows)
    grad_b = grad_y.sum(axis=(0, 2))
    pieces = np.einsum("not,ock->nctk", grad_y, w)
    grad_padded = np.zeros_like(padded)
    reach = stride * (grad_y.shape[2] - 1) + 1
    for k in range(w.shape[2]):
        grad_padded[:, :, k : k + reach : stride] += pieces[..., k]
    return grad_padded[:, :, padding : padded.shape[2] - padding], grad_w, grad_b


def train_step(w, b, x, target, lr, stride=1, padding=0):
    total = 0.0
    for n in range(len(x)):
        y, cache = conv1d_forward(x[n : n + 1], w, b, stride, padding)
        residual = y - target[n : n + 1]
        total += float(np.sum(residual**2))
        _, grad_w, grad_b = conv1d_backward((2.0 / target.size) * residual, cache)
        w, b = w - lr * grad_w, b - lr * grad_b
    return w, b, total / target.size
