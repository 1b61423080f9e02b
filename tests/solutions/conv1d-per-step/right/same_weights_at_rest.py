"""Style: train_step hands back the arrays that it was given where the learning rate is 0."""

import numpy as np


def conv1d_forward(x, w, b, stride=1, padding=0):
    batch, _, length = x.shape
    out_channels, _, kernel = w.shape
    steps = (length + 2 * padding - kernel) // stride + 1
    padded = np.pad(x, ((0, 0), (0, 0), (padding, padding)))
    y = np.empty((batch, out_channels, steps), dtype=x.dtype)
    for t in range(steps):
        window = padded[:, :, t * stride : t * stride + kernel]
        y[:, :, t] = np.einsum("nck,ock->no", window, w) + b
    return y, (padded, w, length, stride, padding)


def conv1d_backward(grad_y, cache):
    padded, w, length, stride, padding = cache
    kernel = w.shape[2]
    grad_padded = np.zeros_like(padded)
    grad_w = np.zeros_like(w)
    grad_b = np.zeros(len(w), dtype=w.dtype)
    for t in range(grad_y.shape[2]):
        start = t * stride
        window = padded[:, :, start : start + kernel]
        grad_t = grad_y[:, :, t]
        grad_w += np.einsum("no,nck->ock", grad_t, window)
        grad_b += grad_t.sum(axis=0)
        grad_padded[:, :, start : start + kernel] += np.einsum("no,ock->nck", grad_t, w)
    return grad_padded[:, :, padding : padding + length], grad_w, grad_b


def train_step(w, b, x, target, lr, stride=1, padding=0):
    y, cache = conv1d_forward(x, w, b, stride, padding)
    residual = y - target
    loss = float(np.mean(residual**2))
    grad_y = 2.0 * residual / residual.size
    _, grad_w, grad_b = conv1d_backward(grad_y, cache)
    if lr == 0.0:
        return w, b, loss
    return w - lr * grad_w, b - lr * grad_b, loss
