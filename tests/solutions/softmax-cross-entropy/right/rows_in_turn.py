"""Row by row, each from its own largest logit, and every sum a dot product."""

import numpy as np

WHY = {"loss-fell": "b", "would-have-shown-it": "a", "transpose": "c"}


def dloss_dp(p, y):
    return np.divide(-y, p, out=np.zeros_like(p), where=y != 0)


def softmax_jacobian(p):
    return np.diag(p) - np.outer(p, p)


def contract(jacobian, g):
    return jacobian.T @ g


def dloss_dz(p, y):
    return y.sum() * p - y


def log_softmax(z):
    out = np.empty(z.shape, z.dtype)
    for row, values in zip(out, z):
        np.subtract(values, values.max(), out=row)
        row -= np.log(np.exp(row).sum())
    return out


def cross_entropy(z, target, ignore_index=-100):
    rows = np.flatnonzero(target != ignore_index)
    return -log_softmax(z)[rows, target[rows]].mean() if rows.size else 0.0


def cross_entropy_grad(z, target, ignore_index=-100):
    rows = np.flatnonzero(target != ignore_index)
    grad = np.zeros_like(z, subok=False)
    grad[rows] = np.exp(log_softmax(z[rows])) if rows.size else 0
    grad[rows, target[rows]] -= 1
    return grad / max(rows.size, 1)


def softmax_vjp(p, g):
    return np.stack([a * (b - a @ b) for a, b in zip(p, g)])
