"""Style: remembers index arrays, keyed by all they depend on: state that does no harm."""

from functools import lru_cache

import numpy as np


@lru_cache(maxsize=64)
def _starts(width, kernel, stride):
    steps = (width - kernel) // stride + 1
    starts = stride * np.arange(steps)
    starts.setflags(write=False)
    return starts


def conv1d_forward(x, w, b, stride=1, padding=0):
    xp = np.pad(x, ((0, 0), (0, 0), (padding, padding)))
    starts = _starts(xp.shape[2], w.shape[2], stride)
    y = sum(np.einsum("nct,oc->not", xp[:, :, starts + k], w[:, :, k]) for k in range(w.shape[2]))
    return y + b[:, None], (xp, w, stride, padding)


def conv1d_backward(grad_y, cache):
    xp, w, stride, padding = cache
    starts = _starts(xp.shape[2], w.shape[2], stride)
    gxp, gw = np.zeros_like(xp), np.empty_like(w)
    for k in range(w.shape[2]):
        gxp[:, :, starts + k] += np.einsum("not,oc->nct", grad_y, w[:, :, k])
        gw[:, :, k] = np.einsum("not,nct->oc", grad_y, xp[:, :, starts + k], optimize=True)
    return gxp[:, :, padding : xp.shape[2] - padding], gw, grad_y.sum(axis=(0, 2))


def train_step(w, b, x, target, lr, stride=1, padding=0):
    y, cache = conv1d_forward(x, w, b, stride, padding)
    residual = y - target
    _, grad_w, grad_b = conv1d_backward(2.0 * residual / residual.size, cache)
    return w - lr * grad_w, b - lr * grad_b, float(np.mean(residual**2))
