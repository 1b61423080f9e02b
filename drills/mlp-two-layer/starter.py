"""A network of two layers by hand: x -> z -> h -> y, half the squared error."""

import numpy as np


def sigmoid(z):
    return 1 / (1 + np.exp(-z))


def forward(x, W1, b1, W2, b2, act):
    """Return y (B, o) and what backward needs; act is "relu" or "sigmoid"."""
    z = x @ W1.T + b1
    h = np.maximum(z, 0) if act == "relu" else sigmoid(z)
    y = h @ W2.T + b2
    return y, (x, W1, W2, z, h, act)


def half_squared_error(y, t):
    """Return the mean loss of the rows and its gradient, (B, o)."""
    residual = y - t
    loss = 0.5 * (residual**2).sum(axis=1).mean()
    return loss, residual / len(y)


def backward(grad_y, cache):
    """Return the gradients of x, W1, b1, W2 and b2."""
    x, W1, W2, z, h, act = cache
    grad_W2 = grad_y.T @ h
    grad_b2 = grad_y.mean(axis=0)
    grad_h = grad_y @ W2
    if act == "relu":
        slope = np.where(z > 0, 1.0, 0.0)
    else:
        slope = sigmoid(h) * (1 - sigmoid(h))
    grad_z = grad_h * slope
    grad_W1 = grad_z.T @ x
    grad_b1 = grad_z.mean(axis=0)
    grad_x = grad_z @ W1
    return grad_x, grad_W1, grad_b1, grad_W2, grad_b2
