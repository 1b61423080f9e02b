"""np.convolve where np.correlate belongs: the forward pass mirrors the filter, and backward is that of the right layer."""

import numpy as np


def conv1d_forward(x, w, b, stride=1, padding=0):
    p = np.pad(x, [(0, 0), (0, 0), (padding, padding)])
    steps = (p.shape[2] - w.shape[2]) // stride + 1
    y = np.zeros((len(x), len(w), steps), x.dtype)
    for n, o in np.ndindex(len(x), len(w)):
        for c in range(x.shape[1]):
            y[n, o] += np.convolve(p[n, c], w[o, c], "valid")[::stride]
        y[n, o] += b[o]
    return y, (x.shape, p, w, stride, padding)


def conv1d_backward(grad_y, cache):
    shape, p, w, stride, padding = cache
    kernel, reach = w.shape[2], stride * (grad_y.shape[2] - 1) + 1
    spread = np.zeros(
        (*grad_y.shape[:2], reach), grad_y.dtype
    )  # stride - 1 zeros between the steps
    spread[:, :, ::stride] = grad_y
    grad_p, grad_w = np.zeros(p.shape, p.dtype), np.zeros(w.shape, w.dtype)
    for n, o in np.ndindex(*grad_y.shape[:2]):
        for c in range(p.shape[1]):
            grad_w[o, c] += np.correlate(p[n, c, : reach + kernel - 1], spread[n, o], "valid")
            grad_p[n, c, : reach + kernel - 1] += np.convolve(spread[n, o], w[o, c], "full")
    grad_x = grad_p[:, :, padding : padding + shape[2]].copy()
    return grad_x, grad_w, np.einsum("not->o", grad_y)


def train_step(w, b, x, target, lr, stride=1, padding=0):
    y, cache = conv1d_forward(x, w, b, stride, padding)
    error = y - target
    _, grad_w, grad_b = conv1d_backward(error * (2 / error.size), cache)
    return w - lr * grad_w, b - lr * grad_b, np.square(error).mean()
