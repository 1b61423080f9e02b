"""Style: np.where and take_along_axis."""

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


def cross_entropy(z, target):
    return -np.take_along_axis(log_softmax(z), target[:, None], axis=1).mean()


def cross_entropy_grad(z, target):
    p = np.exp(log_softmax(z))
    hit = np.take_along_axis(p, target[:, None], axis=1) - 1
    np.put_along_axis(p, target[:, None], hit, axis=1)
    return p / max(len(z), 1)


def dloss_dz(p, y):
    return np.where(p == 0, -y, p * y.sum() - y)


def softmax_vjp(p, g):
    return p * (g - (p[:, None, :] @ g[:, :, None])[:, 0])


WHY = {"loss-fell": "b", "would-have-shown-it": "a", "transpose": "c"}
