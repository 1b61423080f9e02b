"""Style: einsum for every sum, and a one-hot matrix by comparison with arange."""

import numpy as np


def log_softmax(z):
    m = z.max(-1)
    s = z - m[:, None]
    total = np.einsum("bc->b", np.exp(s))
    return s - np.log(total)[:, None]


def dloss_dp(p, y):
    g = np.zeros_like(p)
    some = y > 0
    g[some] = -y[some] / p[some]
    return g


def softmax_jacobian(p):
    eye = np.eye(p.size, dtype=p.dtype)
    return np.einsum("i,ij->ij", p, eye) - np.einsum("i,j->ij", p, p)


def contract(jacobian, g):
    return np.einsum("ij,i->j", jacobian, g)


def _one_hot(z, target):
    return np.arange(z.shape[1]) == target[:, None]


def cross_entropy(z, target):
    return float(-np.sum(log_softmax(z), where=_one_hot(z, target)) / len(target))


def cross_entropy_grad(z, target):
    difference = np.exp(log_softmax(z)) - _one_hot(z, target)
    return np.einsum("bc,b->bc", difference, np.full(len(z), 1 / max(len(z), 1), z.dtype))


def dloss_dz(p, y):
    return np.einsum("k,j->j", y, p) - y


def softmax_vjp(p, g):
    return np.einsum("bc,bc->bc", p, g - np.einsum("bc,bc->b", p, g)[:, None])


WHY = {"loss-fell": "b", "would-have-shown-it": "a", "transpose": "c"}
