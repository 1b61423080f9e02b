"""Style: scatter-add with np.add.at, counting with bincount."""

import numpy as np


def log_softmax(z):
    shifted = np.subtract(z, np.maximum.reduce(z, axis=1, keepdims=True))
    return np.subtract(shifted, np.log(np.add.reduce(np.exp(shifted), axis=1, keepdims=True)))


def dloss_dp(p, y):
    g = np.zeros(p.shape, p.dtype)
    places = np.nonzero(y)[0]
    np.subtract.at(g, places, y[places] / p[places])
    return g


def softmax_jacobian(p):
    jacobian = np.zeros((p.size, p.size), p.dtype)
    i, j = np.indices(jacobian.shape)
    np.subtract.at(jacobian, (i, j), p[i] * p[j])
    np.add.at(jacobian, (np.arange(p.size), np.arange(p.size)), p)
    return jacobian


def contract(jacobian, g):
    out = np.zeros(jacobian.shape[1], jacobian.dtype)
    for row, weight in zip(jacobian, g, strict=True):
        out += weight * row
    return out


def cross_entropy(z, target, ignore_index=-100):
    keep = np.equal(target, ignore_index) == 0
    counted, n = np.bincount(keep.astype(np.intp), minlength=2).tolist()[0:2]
    if n == 0:
        return 0
    rows = np.arange(counted + n)[keep]
    return -np.add.reduce(log_softmax(z)[rows, target[rows].astype(np.intp)]) / n


def cross_entropy_grad(z, target, ignore_index=-100):
    rows = np.argwhere(target != ignore_index)[:, 0]
    grad = np.zeros(z.shape, z.dtype)
    if len(rows):
        grad[rows] += np.exp(log_softmax(z))[rows]
        np.add.at(grad, (rows, target[rows].astype(np.intp)), -1)
        grad /= len(rows)
    return grad


def dloss_dz(p, y):
    out = p * y.sum(dtype=p.dtype)
    np.subtract.at(out, np.arange(y.size), y)
    return out


def softmax_vjp(p, g):
    out = p * g
    out -= p * np.add.reduce(out, axis=1, keepdims=True)
    return out


WHY = {"loss-fell": "b", "would-have-shown-it": "a", "transpose": "c"}
