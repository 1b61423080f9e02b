"""Style: closures built by factories, nothing kept between calls."""

import math

import numpy as np


def _along(axis):
    def stable(z):
        top = z.max(axis=axis, keepdims=True)
        return (z - top) - np.log(np.exp(z - top).sum(axis=axis, keepdims=True))

    return stable


def _over_counted(reduce):
    def run(z, target, ignore_index=-100):
        def counted():
            for row, label in enumerate(target):
                if label != ignore_index:
                    yield row, int(label)

        return reduce(z, list(counted()))

    return run


def _loss(z, counted):
    if not counted:
        return 0.0
    lp = log_softmax(z)
    return sum(float(-lp[place]) for place in counted) / len(counted)


def _gradient(z, counted):
    grad = np.zeros_like(z, subok=False)
    lp = log_softmax(z)
    for row, label in counted:
        grad[row] = np.exp(lp[row])
        grad[row, label] -= 1
        grad[row] /= len(counted)
    return grad


log_softmax = _along(-1)
cross_entropy = _over_counted(_loss)
cross_entropy_grad = _over_counted(_gradient)


def dloss_dp(p, y):
    out = p.copy()
    out[y != 0] = -y[y != 0] / p[y != 0]
    out[y == 0] = 0
    return out


def softmax_jacobian(p):
    def entry(i, j):
        return p[i] * ((i == j) - p[j])

    return np.array([[entry(i, j) for j in range(len(p))] for i in range(len(p))], dtype=p.dtype)


def contract(jacobian, g):
    return np.array([np.vdot(column, g) for column in jacobian.T], dtype=jacobian.dtype)


def dloss_dz(p, y):
    total = math.fsum(y)
    return np.array([total * float(p_k) - float(y_k) for p_k, y_k in zip(p, y)], dtype=p.dtype)


def _of_each_row(rule):
    def run(p, g):
        out = np.empty_like(p, subok=False, order="C")
        for row in range(len(p)):
            out[row] = rule(p[row], g[row])
        return out

    return run


softmax_vjp = _of_each_row(lambda p, g: p * (g - np.vdot(p, g)))

WHY = dict([("loss-fell", "b"), ("would-have-shown-it", "a"), ("transpose", "c")])
