"""Style: computes in float64 whatever comes in, and casts the results back."""

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view


def conv1d_forward(x, w, b, stride=1, padding=0):
    wide = np.pad(x.astype(np.float64), ((0, 0), (0, 0), (padding, padding)))
    windows = sliding_window_view(wide, w.shape[2], axis=2)[:, :, ::stride]
    y = np.einsum("nctk,ock->not", windows, w.astype(np.float64)) + b.astype(np.float64)[:, None]
    return y.astype(x.dtype), (x, w, stride, padding)  # as they came: a float64 copy is twice x


def conv1d_backward(grad_y, cache):
    x, w, stride, padding = cache
    dtype, w, g = x.dtype, w.astype(np.float64), grad_y.astype(np.float64)
    wide = np.pad(x.astype(np.float64), ((0, 0), (0, 0), (padding, padding)))
    windows = sliding_window_view(wide, w.shape[2], axis=2)[:, :, ::stride]
    grad_wide = np.zeros_like(wide)
    reach = stride * (g.shape[2] - 1) + 1
    for k in range(w.shape[2]):
        grad_wide[:, :, k : k + reach : stride] += np.einsum("not,oc->nct", g, w[:, :, k])
    grad_x = grad_wide[:, :, padding : wide.shape[2] - padding]
    grad_w = np.einsum("not,nctk->ock", g, windows)
    return grad_x.astype(dtype), grad_w.astype(dtype), g.sum(axis=(0, 2)).astype(dtype)


def train_step(w, b, x, target, lr, stride=1, padding=0):
    dtype = w.dtype
    w, b, x, target = (a.astype(np.float64) for a in (w, b, x, target))
    y, cache = conv1d_forward(x, w, b, stride, padding)
    residual = y - target
    _, grad_w, grad_b = conv1d_backward(2.0 / residual.size * residual, cache)
    w_new, b_new = (w - lr * grad_w).astype(dtype), (b - lr * grad_b).astype(dtype)
    return w_new, b_new, np.mean(residual**2)
