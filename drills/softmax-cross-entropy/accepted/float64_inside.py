"""Style: everything is computed in float64 and cast to the dtype of the input at the end."""

import numpy as np


def _wide(array):
    return np.array(array, dtype=np.float64)


def log_softmax(z):
    wide = _wide(z)
    wide -= wide.max(axis=-1, keepdims=True)
    wide -= np.log(np.exp(wide).sum(axis=-1, keepdims=True))
    return wide.astype(z.dtype)


def dloss_dp(p, y):
    wide = np.zeros(p.shape)
    np.divide(_wide(-y), _wide(p), out=wide, where=y != 0)
    return wide.astype(p.dtype)


def softmax_jacobian(p):
    wide = _wide(p)
    return (np.diag(wide) - np.outer(wide, wide)).astype(p.dtype)


def contract(jacobian, g):
    return (_wide(jacobian).T @ _wide(g)).astype(jacobian.dtype)


def cross_entropy(z, target):
    lp = log_softmax(_wide(z))
    return -lp[np.arange(len(lp)), target].mean()


def cross_entropy_grad(z, target):
    out = np.zeros(z.shape, z.dtype)
    for row in range(len(z)):  # a row at a time: the whole batch in float64 would be twice as much
        p = np.exp(log_softmax(_wide(z[row : row + 1])))[0]
        p[target[row]] -= 1
        out[row] = p / len(z)
    return out


def dloss_dz(p, y):
    return (_wide(p) * _wide(y).sum() - _wide(y)).astype(p.dtype)


def softmax_vjp(p, g):
    out = np.zeros(p.shape, p.dtype)
    for row, (probabilities, incoming) in enumerate(zip(p, g)):
        wide = _wide(probabilities)
        out[row] = wide * (_wide(incoming) - wide @ _wide(incoming))
    return out


WHY = {"loss-fell": "b", "would-have-shown-it": "a", "transpose": "c"}
