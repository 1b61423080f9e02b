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


def _one_hot(z, target, keep):
    return (np.arange(z.shape[1]) == target[:, None]) & keep[:, None]


def cross_entropy(z, target, ignore_index=-100):
    keep = target != ignore_index
    if not np.any(keep):
        return 0.0
    return float(-np.sum(log_softmax(z), where=_one_hot(z, target, keep)) / np.count_nonzero(keep))


def cross_entropy_grad(z, target, ignore_index=-100):
    keep = target != ignore_index
    count = max(np.count_nonzero(keep), 1)
    weight = keep.astype(z.dtype) / count
    difference = np.exp(log_softmax(z)) - _one_hot(z, target, keep)
    return np.einsum("bc,b->bc", difference, weight.astype(z.dtype))


def dloss_dz(p, y):
    return np.einsum("k,j->j", y, p) - y


def softmax_vjp(p, g):
    return np.einsum("bc,bc->bc", p, g - np.einsum("bc,bc->b", p, g)[:, None])


WHY = {"loss-fell": "b", "would-have-shown-it": "a", "transpose": "c"}
