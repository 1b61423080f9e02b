"""Style: the cache is the backward pass itself, a closure; train_step derives its own gradients."""

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view


def conv1d_forward(x, w, b, stride=1, padding=0):
    length = x.shape[-1]  # all that backward needs of x: it is in xp
    xp = np.pad(x, ((0, 0), (0, 0), (padding, padding)))
    win = sliding_window_view(xp, w.shape[-1], -1)[..., ::stride, :]

    def backward(grad_y):
        gxp = np.zeros_like(xp)
        for t in range(grad_y.shape[-1]):
            for k in range(w.shape[-1]):
                gxp[..., t * stride + k] += grad_y[..., t] @ w[..., k]
        gx = gxp[..., padding : padding + length]
        return gx, np.einsum("not,nctk->ock", grad_y, win), np.einsum("not->o", grad_y)

    return np.einsum("ock,nctk->not", w, win) + b[:, None], backward


def conv1d_backward(grad_y, cache):
    return cache(grad_y)


def train_step(w, b, x, target, lr, stride=1, padding=0):
    xp = np.pad(x, ((0, 0), (0, 0), (padding, padding)))
    win = sliding_window_view(xp, w.shape[-1], -1)[..., ::stride, :]
    miss = np.einsum("ock,nctk->not", w, win) + b[:, None] - target
    scale = 2.0 * lr / miss.size
    w_new = w - scale * np.einsum("not,nctk->ock", miss, win)
    return w_new, b - scale * miss.sum(axis=(0, 2)), float(np.mean(miss**2))
