"""Style: functools.partial over one general kernel that gives the loss and the gradient."""

from functools import partial

import numpy as np


def _normalize(z, axis, logarithm):
    shifted = z - np.amax(z, axis=axis, keepdims=True)
    e = np.exp(shifted)
    total = e.sum(axis=axis, keepdims=True)
    return shifted - np.log(total) if logarithm else e / total


def _kernel(z, target, ignore_index=-100, *, want):
    rows = np.flatnonzero(np.asarray(target != ignore_index))
    picked = (rows, target[rows])
    if want == "loss":
        return float(np.average(-log_softmax(z)[picked])) if rows.size else 0.0
    p = _normalize(z, -1, logarithm=False)
    p[picked] -= 1
    grad = np.zeros(z.shape, z.dtype)
    if rows.size:
        grad[rows] = p[rows] / rows.size
    return grad


log_softmax = partial(_normalize, axis=-1, logarithm=True)
cross_entropy = partial(_kernel, want="loss")
cross_entropy_grad = partial(_kernel, want="gradient")


def dloss_dp(p, y):
    return np.array([-w / q if w else 0 for q, w in zip(p, y, strict=True)], dtype=p.dtype)


def softmax_jacobian(p):
    columns = [-p * p[j] for j in range(len(p))]
    for j, column in enumerate(columns):
        column[j] += p[j]
    return np.stack(columns, axis=1)


def contract(jacobian, g):
    return np.tensordot(g, jacobian, axes=(0, 0))


def dloss_dz(p, y):
    return y.sum() * p - y


def softmax_vjp(p, g):
    return p * (g - (p * g).sum(axis=-1, keepdims=True))


WHY = {"loss-fell": "b", "would-have-shown-it": "a", "transpose": "c"}
