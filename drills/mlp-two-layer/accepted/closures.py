"""The cache is a function that knows all that backward needs."""

import numpy as np

WHY = {"bias": "c", "sizes": "a", "stacked": "d"}


def forward(x, W1, b1, W2, b2, act):
    def hidden():
        z = x @ W1.T + b1
        if act == "relu":
            return np.where(z > 0, z, np.zeros_like(z))
        with np.errstate(over="ignore"):
            return np.reciprocal(1 + np.exp(-z))

    h = hidden()

    def pull(grad_y):
        grad_h = grad_y @ W2
        grad_z = np.where(h > 0, grad_h, 0) if act == "relu" else grad_h * h * (1 - h)
        ones = np.ones(len(x), x.dtype)
        return grad_z @ W1, grad_z.T @ x, ones @ grad_z, grad_y.T @ h, ones @ grad_y

    return h @ W2.T + b2, pull


def half_squared_error(y, t, keep=None):
    if keep is None:
        keep = np.full(len(y), True)
    grad = np.zeros_like(y)
    grad[keep] = y[keep] - t[keep]
    rows = max(int(np.count_nonzero(keep)), 1)
    return 0.5 * float(np.vdot(grad, grad)) / rows, grad / rows


def backward(grad_y, cache):
    return cache(grad_y)
