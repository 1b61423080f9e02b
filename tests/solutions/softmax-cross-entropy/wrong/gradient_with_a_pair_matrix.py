"""The gradient's softmax comes from all differences of logits, C by C per row."""

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
    shifted = z - z.max(axis=-1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))


def cross_entropy(z, target, ignore_index=-100):
    rows = np.flatnonzero(target != ignore_index)
    return -log_softmax(z)[rows, target[rows]].mean() if rows.size else 0.0


def cross_entropy_grad(z, target, ignore_index=-100):
    rows = np.flatnonzero(target != ignore_index)
    grad = np.zeros_like(z, subok=False)
    grad[rows] = (
        np.stack([1 / np.exp(r[None, :] - r[:, None]).sum(axis=1) for r in z[rows]])
        if rows.size
        else 0
    )
    grad[rows, target[rows]] -= 1
    return grad / max(rows.size, 1)


def softmax_vjp(p, g):
    return p * (g - (p * g).sum(axis=-1, keepdims=True))
