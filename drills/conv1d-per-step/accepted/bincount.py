"""Style: grad_x by np.bincount with weights, in float64, cast back at the end."""

import numpy as np


def conv1d_forward(x, w, b, stride=1, padding=0):
    N, Cin, L = x.shape
    K = w.shape[2]
    T = (L + 2 * padding - K) // stride + 1
    columns = stride * np.arange(T)[:, None] + np.arange(K)
    padded = np.concatenate(
        [np.zeros((N, Cin, padding), x.dtype), x, np.zeros((N, Cin, padding), x.dtype)], axis=2
    )
    y = np.tensordot(padded[:, :, columns], w, axes=([1, 3], [1, 2]))
    return np.moveaxis(y, 2, 1) + b.reshape(1, -1, 1), (padded, columns, w, padding)


def conv1d_backward(grad_y, cache):
    padded, columns, w, padding = cache
    N, Cin, width = padded.shape
    rows = np.arange(N * Cin).reshape(N, Cin, 1, 1) * width
    pieces = np.einsum("not,ock->nctk", grad_y.astype(np.float64), w.astype(np.float64))
    flat = np.bincount((rows + columns).ravel(), pieces.ravel(), minlength=padded.size)
    grad_x = flat.reshape(padded.shape)[:, :, padding : width - padding].astype(grad_y.dtype)
    grad_w = np.einsum("not,nctk->ock", grad_y, padded[:, :, columns])
    return grad_x, grad_w, np.add.reduce(grad_y, axis=(0, 2))


def train_step(w, b, x, target, lr, stride=1, padding=0):
    y, cache = conv1d_forward(x, w, b, stride, padding)
    d = y - target
    _, gw, gb = conv1d_backward(d / (d.size / 2), cache)
    return w - lr * gw, b - lr * gb, float(np.sum(d * d) / d.size)
