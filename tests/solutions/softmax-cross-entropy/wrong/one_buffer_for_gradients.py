"""Wrong: every gradient of one shape is written into the same array."""

import numpy as np

_BUFFERS = {}


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
    rows = np.flatnonzero(target != ignore_index)
    if rows.size == 0:
        return 0.0
    return float(-log_softmax(z)[rows, target[rows]].mean())


def cross_entropy_grad(z, target, ignore_index=-100):
    rows = np.flatnonzero(target != ignore_index)
    grad = _BUFFERS.setdefault((z.shape, z.dtype), np.zeros(z.shape, z.dtype))
    grad[...] = 0
    if rows.size:
        p = np.exp(log_softmax(z))
        p[rows, target[rows]] -= 1
        grad[rows] = p[rows] / rows.size
    return grad


def dloss_dz(p, y):
    return y.sum() * p - y


def softmax_vjp(p, g):
    return p * (g - (p * g).sum(axis=-1, keepdims=True))


WHY = {"loss-fell": "b", "would-have-shown-it": "a", "transpose": "c"}
