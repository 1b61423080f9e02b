"""A column of ones on the inputs of each layer, so that a bias is one more weight."""

import numpy as np

WHY = {"bias": "c", "sizes": "a", "stacked": "d"}


def with_ones(a):
    return np.hstack([a, np.ones((a.shape[0], 1), a.dtype)])


def forward(x, W1, b1, W2, b2, act):
    first, second = np.column_stack([W1, b1]), np.column_stack([W2, b2])
    h = with_ones(x) @ first.T
    if act == "relu":
        np.maximum(h, 0, out=h)
    else:
        np.tanh(h / 2, out=h)
        h += 1
        h /= 2
    return with_ones(h) @ second.T, [x, h, first, second, act]


def half_squared_error(y, t, keep=None):
    target = t.copy()
    rows = len(y)
    if keep is not None:
        target[~keep] = y[~keep]
        rows = max(sum(keep.tolist()), 1)
    residual = y - target
    return np.square(residual).sum() / (2 * rows), residual / rows


def backward(grad_y, cache):
    x, h, first, second, act = cache
    grad_second = grad_y.T @ with_ones(h)
    grad_z = grad_y @ second[:, :-1]
    grad_z *= (h > 0) if act == "relu" else h * (1 - h)
    grad_first = grad_z.T @ with_ones(x)
    grad_x = grad_z @ first[:, :-1]
    return grad_x, grad_first[:, :-1].copy(), grad_first[:, -1].copy(), grad_second[:, :-1].copy(), grad_second[:, -1].copy()
