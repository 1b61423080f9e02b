"""Wrong: the gradient reuses the probabilities of the last loss of the same shape."""

import numpy as np

_LAST = {}


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
    lp = log_softmax(z)
    _LAST["p"] = np.exp(lp)
    return float(-lp[rows, target[rows]].mean()) if rows.size else 0.0


def cross_entropy_grad(z, target, ignore_index=-100):
    rows = np.flatnonzero(target != ignore_index)
    p = _LAST.get("p")
    if p is None or p.shape != z.shape or p.dtype != z.dtype:
        p = np.exp(log_softmax(z))
    grad = np.zeros(z.shape, z.dtype)
    grad[rows] = p[rows]
    grad[rows, target[rows]] -= 1
    return grad / max(rows.size, 1)


def dloss_dz(p, y):
    return y.sum() * p - y


def softmax_vjp(p, g):
    return p * (g - (p * g).sum(axis=-1, keepdims=True))


WHY = {"loss-fell": "b", "would-have-shown-it": "a", "transpose": "c"}
