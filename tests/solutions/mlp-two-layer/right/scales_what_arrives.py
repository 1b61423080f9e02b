"""grad_y is changed in place and restored before backward returns."""

import numpy as np

WHY = {"bias": "c", "sizes": "a", "stacked": "d"}


def sigmoid(z):
    with np.errstate(over="ignore"):
        return 1 / (1 + np.exp(-z))


def forward(x, W1, b1, W2, b2, act):
    z = x @ W1.T + b1
    h = np.maximum(z, 0) if act == "relu" else sigmoid(z)
    y = h @ W2.T + b2
    return y, (x, W1, W2, h, act)


def half_squared_error(y, t, keep=None):
    keep = np.ones(len(y), bool) if keep is None else keep
    rows = max(int(keep.sum()), 1)
    residual = np.where(keep[:, None], y - t, 0)
    loss = 0.5 * float((residual**2).sum()) / rows
    return loss, residual / rows


def backward(grad_y, cache):
    x, W1, W2, h, act = cache
    grad_y *= 2
    slope = h > 0 if act == "relu" else h * (1 - h)
    grad_h = grad_y @ W2
    grad_z = grad_h * slope
    grad_W1 = grad_z.T @ x
    grad_b1 = grad_z.sum(axis=0)
    grad_W2 = grad_y.T @ h
    grad_b2 = grad_y.sum(axis=0)
    grad_x = grad_z @ W1
    grad_y /= 2
    return grad_x / 2, grad_W1 / 2, grad_b1 / 2, grad_W2 / 2, grad_b2 / 2
