"""Everything is computed in float64 and rounded once, at the end."""

import numpy as np

WHY = {"bias": "c", "sizes": "a", "stacked": "d"}


def sigmoid(z):
    with np.errstate(over="ignore"):
        return 1.0 / (1.0 + np.exp(-z))


def forward(x, W1, b1, W2, b2, act):
    dtype = x.dtype
    x, W1, b1, W2, b2 = (np.asarray(a, np.float64) for a in (x, W1, b1, W2, b2))
    z = x @ W1.T + b1
    h = sigmoid(z) if act == "sigmoid" else np.maximum(z, 0.0)
    return (h @ W2.T + b2).astype(dtype), (x, W1, W2, h, act == "sigmoid", dtype)


def half_squared_error(y, t, keep=None):
    weight = np.ones((len(y), 1)) if keep is None else keep[:, None].astype(float)
    weight = weight / max(weight.sum(), 1.0)
    residual = y.astype(np.float64) - np.where(weight > 0, t, y)
    return float((weight * residual**2).sum() / 2), (weight * residual).astype(y.dtype)


def backward(grad_y, cache):
    x, W1, W2, h, smooth, dtype = cache
    grad_y = grad_y.astype(np.float64)
    grad_z = grad_y @ W2 * (h * (1.0 - h) if smooth else h > 0)
    grads = grad_z @ W1, grad_z.T @ x, grad_z.sum(0), grad_y.T @ h, grad_y.sum(0)
    return tuple(g.astype(dtype) for g in grads)
