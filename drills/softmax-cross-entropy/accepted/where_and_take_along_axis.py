"""Style: vectorised with a safe stand-in target, np.where and take_along_axis."""

import numpy as np


def log_softmax(z):
    top = np.max(z, axis=1, keepdims=True)
    return z - top - np.log(np.sum(np.exp(z - top), axis=1, keepdims=True))


def dloss_dp(p, y):
    safe = np.where(y == 0, np.ones_like(p), p)
    return np.where(y == 0, np.zeros_like(p), -y / safe)


def softmax_jacobian(p):
    return p[:, None] * (np.eye(len(p), dtype=p.dtype) - p[None, :])


def contract(jacobian, g):
    return (jacobian * g[:, None]).sum(axis=0)


def _masked(target, ignore_index):
    keep = target != ignore_index
    return keep, np.where(keep, target, 0).astype(np.int64), max(int(keep.sum()), 1)


def cross_entropy(z, target, ignore_index=-100):
    keep, safe, n = _masked(target, ignore_index)
    picked = np.take_along_axis(log_softmax(z), safe[:, None], axis=1)[:, 0]
    return -np.where(keep, picked, 0).sum() / n


def cross_entropy_grad(z, target, ignore_index=-100):
    keep, safe, n = _masked(target, ignore_index)
    p = np.exp(log_softmax(z))
    hit = np.take_along_axis(p, safe[:, None], axis=1) - 1
    np.put_along_axis(p, safe[:, None], hit, axis=1)
    return np.where(keep[:, None], p / n, np.zeros_like(p))


def dloss_dz(p, y):
    return np.where(p == 0, -y, p * y.sum() - y)


def softmax_vjp(p, g):
    return p * (g - (p[:, None, :] @ g[:, :, None])[:, 0])


WHY = {"loss-fell": "b", "would-have-shown-it": "a", "transpose": "c"}
