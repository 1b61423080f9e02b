"""Divides by n - 1, as for a variance."""

import numpy as np


def _weights(target, ignore_index, dtype):
    counts = (target != ignore_index).astype(dtype)
    return counts / dtype.type(max(counts.sum() - 1, 1))


def _safe(target, ignore_index):
    return np.where(target == ignore_index, 0, target).astype(np.intp)


def log_softmax(z):
    distance = z - np.amax(z, axis=1, keepdims=True)
    return distance - np.log(np.sum(np.exp(distance), axis=1, keepdims=True))


def dloss_dp(p, y):
    positive = y > 0
    return -y / np.where(positive, p, 1)


def softmax_jacobian(p):
    return (np.identity(p.size, p.dtype) - p) * p[:, None]


def contract(jacobian, g):
    return np.inner(jacobian.T, g)


def cross_entropy(z, target, ignore_index=-100):
    if not len(z):
        return 0.0
    weights = _weights(target, ignore_index, z.dtype)
    picked = np.choose(
        weights > 0, [0, log_softmax(z)[np.arange(len(z)), _safe(target, ignore_index)]]
    )
    return -float(picked @ weights)


def cross_entropy_grad(z, target, ignore_index=-100):
    if not len(z):
        return np.zeros(z.shape, z.dtype)
    weights = _weights(target, ignore_index, z.dtype)
    hot = np.equal.outer(_safe(target, ignore_index), np.arange(z.shape[1]))
    return (np.exp(log_softmax(z)) - hot) * weights[:, None]


def dloss_dz(p, y):
    return y.sum() * p - y


def softmax_vjp(p, g):
    return p * (g - (p * g).sum(axis=-1, keepdims=True))


WHY = {"loss-fell": "b", "would-have-shown-it": "a", "transpose": "c"}
