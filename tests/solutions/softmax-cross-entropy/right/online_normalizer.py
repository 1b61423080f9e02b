"""One pass per row with a running maximum and a running sum, as a fused kernel does it."""

import math

import numpy as np


def _normalizer(row):
    """Return the maximum of a row, and the logarithm of the sum of exponentials below it."""
    top, total = -math.inf, 0.0
    for value in row.tolist():
        if value > top:
            total = total * math.exp(top - value) + 1.0
            top = value
        elif value > -math.inf:
            total += math.exp(value - top)
    return top, math.log(total)


def log_softmax(z):
    out = np.empty(z.shape, z.dtype)
    for i, row in enumerate(z):
        top, rest = _normalizer(row)
        out[i] = [(value - top) - rest for value in row.tolist()]
    return out


def dloss_dp(p, y):
    return np.array([-b / a if b else 0.0 for a, b in zip(p, y, strict=True)], p.dtype)


def softmax_jacobian(p):
    size = len(p)
    out = np.empty((size, size), p.dtype)
    for i in range(size):
        for j in range(size):
            out[i, j] = p[i] - p[i] * p[i] if i == j else -p[i] * p[j]
    return out


def contract(jacobian, g):
    return np.add.reduce(jacobian * g[:, None], axis=0)


def cross_entropy(z, target, ignore_index=-100):
    losses = [-row[t] for row, t in zip(log_softmax(z), target, strict=True) if t != ignore_index]
    return math.fsum(losses) / len(losses) if losses else 0.0


def cross_entropy_grad(z, target, ignore_index=-100):
    counted = [i for i, t in enumerate(target) if t != ignore_index]
    grad = np.zeros_like(z, order="C")
    for i in counted:
        row = np.exp(log_softmax(z[i : i + 1])[0])
        row[target[i]] -= 1
        grad[i] = row / len(counted)
    return grad


def dloss_dz(p, y):
    return y.sum() * p - y


def softmax_vjp(p, g):
    return p * (g - (p * g).sum(axis=-1, keepdims=True))


WHY = {"loss-fell": "b", "would-have-shown-it": "a", "transpose": "c"}
