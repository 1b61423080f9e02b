"""From differences of logits: log p_t = -log sum_k exp(z_k - z_t), the large ones taken out."""

from functools import reduce

import numpy as np


def log_softmax(z):
    columns = z.T
    top = reduce(np.maximum, columns)
    total = reduce(np.add, (np.exp(column - top) for column in columns))
    return np.stack([column - top - np.log(total) for column in columns], axis=1)


def dloss_dp(p, y):
    out = np.zeros(len(p), p.dtype)
    (some,) = np.nonzero(y)
    out[some] = -y[some] / p[some]
    return out


def softmax_jacobian(p):
    return np.diagflat(p) - p[:, None] @ p[None, :]


def contract(jacobian, g):
    return np.einsum("ij,i->j", jacobian, g)


class _Counted:
    def __init__(self, z, target, ignore_index):
        self.rows = np.array(
            [i for i, t in enumerate(target.tolist()) if t != ignore_index], np.intp
        )
        self.labels = np.array([target[i] for i in self.rows], np.intp)
        self.log_p = log_softmax(z[self.rows])

    def loss(self):
        return (
            np.negative(self.log_p[np.arange(self.rows.size), self.labels]).sum() / self.rows.size
        )

    def gradient(self, out):
        out[self.rows] = np.exp(self.log_p) / self.rows.size
        np.subtract.at(out, (self.rows, self.labels), np.array(1 / self.rows.size, out.dtype))
        return out


def cross_entropy(z, target, ignore_index=-100):
    counted = _Counted(z, target, ignore_index)
    return counted.loss() if counted.rows.size else 0.0


def cross_entropy_grad(z, target, ignore_index=-100):
    counted, out = _Counted(z, target, ignore_index), np.zeros(z.shape, z.dtype)
    return counted.gradient(out) if counted.rows.size else out


def dloss_dz(p, y):
    return y.sum() * p - y


def softmax_vjp(p, g):
    return p * (g - (p * g).sum(axis=-1, keepdims=True))


WHY = {"loss-fell": "b", "would-have-shown-it": "a", "transpose": "c"}
