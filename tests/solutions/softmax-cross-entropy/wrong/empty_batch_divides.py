"""Wrong: only all-ignored rows are caught; an empty batch divides by 0."""

import numpy as np


def log_softmax(z):
    shifted = z - z.max(axis=-1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))


def dloss_dp(p, y):
    return np.divide(-y, p, out=np.zeros_like(p), where=y != 0)


def softmax_jacobian(p):
    return np.diag(p) - np.outer(p, p)


def contract(jacobian, g):
    return jacobian.T @ g


def cross_entropy(z, target, ignore_index=-100):
    keep = target != ignore_index
    if len(target) and not keep.any():
        return 0.0
    return float(-log_softmax(z)[keep, target[keep]].sum() / np.float64(keep.sum()))


def cross_entropy_grad(z, target, ignore_index=-100):
    rows = np.flatnonzero(target != ignore_index)
    grad = np.zeros(z.shape, z.dtype)
    if rows.size == 0:
        return grad
    p = np.exp(log_softmax(z))
    p[rows, target[rows]] -= 1
    grad[rows] = p[rows] / rows.size
    return grad


def dloss_dz(p, y):
    return y.sum() * p - y


def softmax_vjp(p, g):
    return p * (g - (p * g).sum(axis=-1, keepdims=True))


WHY = {"loss-fell": "b", "would-have-shown-it": "a", "transpose": "c"}
