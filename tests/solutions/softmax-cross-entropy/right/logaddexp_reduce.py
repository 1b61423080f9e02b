"""Style: the normalizer by np.logaddexp.reduce, which needs no maximum of our own."""

import numpy as np


def log_softmax(z):
    # The maximum is taken off first so that the last subtraction loses no digits.
    shifted = z - z.max(axis=1)[:, np.newaxis]
    return shifted - np.logaddexp.reduce(shifted, axis=1)[:, np.newaxis]


def dloss_dp(p, y):
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(y == 0, 0, -y / p).astype(p.dtype)


def softmax_jacobian(p):
    jacobian = -np.multiply.outer(p, p)
    jacobian.ravel()[:: p.size + 1] += p
    return jacobian


def contract(jacobian, g):
    return np.dot(g, jacobian)


def cross_entropy(z, target, ignore_index=-100):
    keep = target != ignore_index
    if not keep.any():
        return 0.0
    z, target = z[keep], target[keep]
    return float(np.mean([-row[t] for row, t in zip(log_softmax(z), target, strict=True)]))


def cross_entropy_grad(z, target, ignore_index=-100):
    keep = target != ignore_index
    grad = np.zeros(z.shape, z.dtype)
    if keep.any():
        inner = np.exp(log_softmax(z[keep]))
        inner[np.arange(len(inner)), target[keep]] -= 1
        grad[keep] = inner / len(inner)
    return grad


def dloss_dz(p, y):
    return np.add.reduce(y) * p - y


def softmax_vjp(p, g):
    mean = np.add.reduce(p * g, axis=1, keepdims=True)
    return np.multiply(np.subtract(g, mean), p)


WHY = {"loss-fell": "b", "would-have-shown-it": "a", "transpose": "c"}
