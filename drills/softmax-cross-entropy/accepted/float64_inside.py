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


def cross_entropy(z, target, ignore_index=-100):
    keep = target != ignore_index
    if not keep.any():
        return np.float64(0)
    lp = log_softmax(_wide(z[keep]))
    return -lp[np.arange(len(lp)), target[keep]].mean()


def cross_entropy_grad(z, target, ignore_index=-100):
    keep = target != ignore_index
    wide = np.zeros(z.shape)
    if keep.any():
        p = np.exp(log_softmax(_wide(z[keep])))
        p[np.arange(len(p)), target[keep]] -= 1
        wide[keep] = p / len(p)
    return wide.astype(z.dtype)
