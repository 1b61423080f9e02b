"""Python loops over numbers; numpy only for the arrays."""

import math

import numpy as np

WHY = {"bias": "c", "sizes": "a", "stacked": "d"}


def _sigmoid(z):
    if z < 0:
        e = math.exp(z)
        return e / (1 + e)
    return 1 / (1 + math.exp(-z))


def _layer(rows, weights, bias):
    return [[sum(w * a for w, a in zip(unit, row)) + b for unit, b in zip(weights, bias)] for row in rows]


def _products(left, right):
    """Entry [i][j] is the sum over the rows of left[i] * right[j]."""
    return [[sum(a[i] * b[j] for a, b in zip(left, right)) for j in range(len(right[0]))] for i in range(len(left[0]))]


def _sums(rows):
    return [sum(column) for column in zip(*rows)]


def _back(rows, weights):
    return [[sum(g * unit[j] for g, unit in zip(row, weights)) for j in range(len(weights[0]))] for row in rows]


def forward(x, W1, b1, W2, b2, act):
    z = _layer(x.tolist(), W1.tolist(), b1.tolist())
    h = [[max(v, 0.0) if act == "relu" else _sigmoid(v) for v in row] for row in z]
    y = _layer(h, W2.tolist(), b2.tolist())
    return np.array(y, x.dtype), (x, W1, W2, h, act)


def half_squared_error(y, t, keep=None):
    rows = [i for i in range(len(y)) if keep is None or keep[i]]
    grad = np.zeros(y.shape, y.dtype)
    loss = 0.0
    for i in rows:
        for k in range(y.shape[1]):
            residual = float(y[i, k]) - float(t[i, k])
            loss += residual * residual / 2 / len(rows)
            grad[i, k] = residual / len(rows)
    return loss, grad


def backward(grad_y, cache):
    x, W1, W2, h, act = cache
    g = grad_y.tolist()
    grad_z = [
        [a * ((1.0 if v > 0 else 0.0) if act == "relu" else v * (1 - v)) for a, v in zip(row, hidden)]
        for row, hidden in zip(_back(g, W2.tolist()), h)
    ]
    grads = _back(grad_z, W1.tolist()), _products(grad_z, x.tolist()), _sums(grad_z), _products(g, h), _sums(g)
    return tuple(np.array(a, grad_y.dtype) for a in grads)
