"""Style: every step has gradients of its own, in full, which are added up; also in train_step."""

import numpy as np


def _window(padded, t, kernel, stride):
    return padded[:, :, t * stride : t * stride + kernel]


def conv1d_forward(x, w, b, stride=1, padding=0):
    padded = np.pad(x, ((0, 0), (0, 0), (padding, padding)))
    kernel = w.shape[2]
    steps = (padded.shape[2] - kernel) // stride + 1
    y = np.empty((len(x), len(w), steps), dtype=x.dtype)
    for t in range(steps):
        y[:, :, t] = np.einsum("nck,ock->no", _window(padded, t, kernel, stride), w) + b
    return y, (padded, w, stride, padding)


def _of_one_step(t, g, padded, w, stride):
    only_this = np.zeros(padded.shape, dtype=padded.dtype)
    _window(only_this, t, w.shape[2], stride)[...] = np.einsum("no,ock->nck", g, w)
    for_w = np.einsum("no,nck->ock", g, _window(padded, t, w.shape[2], stride))
    return only_this, for_w, np.einsum("no->o", g)


def conv1d_backward(grad_y, cache):
    padded, w, stride, padding = cache
    steps = (_of_one_step(t, grad_y[:, :, t], padded, w, stride) for t in range(grad_y.shape[2]))
    grad_padded, grad_w, grad_b = next(steps)
    for for_x, for_w, for_b in steps:
        grad_padded, grad_w, grad_b = grad_padded + for_x, grad_w + for_w, grad_b + for_b
    return grad_padded[:, :, padding : padded.shape[2] - padding], grad_w, grad_b


def train_step(w, b, x, target, lr, stride=1, padding=0):
    y, cache = conv1d_forward(x, w, b, stride, padding)
    losses, w_new, b_new = [], w.copy(), b.copy()
    for t in range(y.shape[2]):
        residual = np.zeros_like(y)
        residual[:, :, t] = y[:, :, t] - target[:, :, t]
        losses.append(float(np.sum(residual**2)))
        # The gradients of all steps are taken at the old weights, so the order does not matter.
        _, grad_w, grad_b = conv1d_backward(2.0 * residual / y.size, cache)
        w_new -= lr * grad_w
        b_new -= lr * grad_b
    return w_new, b_new, sum(losses) / y.size
