"""Style: grad_x by np.bincount with weights, tap by tap in float64, cast back at the end."""

import numpy as np


def conv1d_forward(x, w, b, stride=1, padding=0):
    N, Cin, L = x.shape
    K = w.shape[2]
    starts = stride * np.arange((L + 2 * padding - K) // stride + 1)
    padded = np.concatenate(
        [np.zeros((N, Cin, padding), x.dtype), x, np.zeros((N, Cin, padding), x.dtype)], axis=2
    )
    y = np.zeros((N, len(w), len(starts)), x.dtype)
    for k in range(K):
        y += np.einsum("nct,oc->not", padded[:, :, starts + k], w[:, :, k])
    return y + b.reshape(1, -1, 1), (x, w, stride, padding)


def conv1d_backward(grad_y, cache):
    x, w, stride, padding = cache
    N, Cin, L = x.shape
    padded = np.pad(x, ((0, 0), (0, 0), (padding, padding)))
    width = padded.shape[2]
    starts = np.arange(N * Cin).reshape(N, Cin, 1) * width + stride * np.arange(grad_y.shape[2])
    flat, grad_w = np.zeros(padded.size), np.zeros(w.shape, w.dtype)
    for k in range(w.shape[2]):
        pieces = np.einsum("not,oc->nct", grad_y, w[:, :, k], dtype=np.float64)
        flat += np.bincount((starts + k).ravel(), pieces.ravel(), minlength=padded.size)
        grad_w[:, :, k] = np.einsum("not,nct->oc", grad_y, padded.reshape(-1)[starts + k])
    grad_x = flat.reshape(padded.shape)[:, :, padding : padding + L].astype(grad_y.dtype)
    return grad_x, grad_w, np.add.reduce(grad_y, axis=(0, 2))


def train_step(w, b, x, target, lr, stride=1, padding=0):
    y, cache = conv1d_forward(x, w, b, stride, padding)
    d = y - target
    _, gw, gb = conv1d_backward(d / (d.size / 2), cache)
    return w - lr * gw, b - lr * gb, float(np.sum(d * d) / d.size)
