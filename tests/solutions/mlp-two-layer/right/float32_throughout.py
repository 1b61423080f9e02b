"""No number of float64 anywhere when float32 comes in, not even a scalar."""

import numpy as np

WHY = {"bias": "c", "sizes": "a", "stacked": "d"}


def forward(x, W1, b1, W2, b2, act):
    one = x.dtype.type(1)
    z = x @ W1.T
    z += b1
    if act == "relu":
        h = np.maximum(z, x.dtype.type(0))
    else:
        with np.errstate(over="ignore"):
            h = one / (one + np.exp(-z))
    y = h @ W2.T
    y += b2
    return y, (x, W1, W2, h, act)


def half_squared_error(y, t, keep=None):
    kind = y.dtype.type
    if keep is None:
        residual, rows = y - t, kind(y.shape[0])
    else:
        residual = np.where(keep[:, np.newaxis], y - t, kind(0))
        rows = kind(max(keep.sum(), 1))
    return np.sum(residual * residual) / (kind(2) * rows), residual / rows


def backward(grad_y, cache):
    x, W1, W2, h, act = cache
    one = x.dtype.type(1)
    grad_z = grad_y @ W2
    if act == "relu":
        grad_z[h == 0] = 0
    else:
        grad_z *= h
        grad_z *= one - h
    return grad_z @ W1, grad_z.T @ x, grad_z.sum(axis=0), grad_y.T @ h, grad_y.sum(axis=0)
