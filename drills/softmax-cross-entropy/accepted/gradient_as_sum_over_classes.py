"""Style: the gradient one class at a time, from differences of logits: 1 / sum_k exp(z_k - z_j)."""

import numpy as np


def _probability(z, j):
    # exp of a difference may overflow to inf, and 1 / inf is the right 0 for that class; a masked
    # class has no finite difference to itself.
    with np.errstate(over="ignore", invalid="ignore"):
        p = 1 / np.exp(z - z[:, j : j + 1]).sum(axis=1)
    return np.where(np.isneginf(z[:, j]), 0, p).astype(z.dtype)


def log_softmax(z):
    top = z[np.arange(len(z)), z.argmax(axis=-1)][:, None]
    return (z - top) - np.log(np.exp(z - top).sum(axis=-1))[:, None]


def dloss_dp(p, y):
    return -np.divide(y, p, where=(y > 0), out=np.zeros_like(y))


def softmax_jacobian(p):
    jacobian = np.tile(-p, (len(p), 1)) * p[:, None]
    np.fill_diagonal(jacobian, p + jacobian.diagonal())
    return jacobian


def contract(jacobian, g):
    return np.squeeze(g[None, :] @ jacobian, axis=0).copy()


def cross_entropy(z, target, ignore_index=-100):
    keep = np.nonzero(target != ignore_index)[0]
    if keep.size == 0:
        return 0.0
    return (-log_softmax(z[keep])[np.arange(keep.size), target[keep]]).mean().item()


def cross_entropy_grad(z, target, ignore_index=-100):
    keep = target != ignore_index
    count = int(keep.sum())
    grad = np.zeros(z.shape, z.dtype)
    for j in range(z.shape[1] if count else 0):
        column = (_probability(z, j) - (target == j)) / count
        grad[keep, j] = column[keep]
    return grad
