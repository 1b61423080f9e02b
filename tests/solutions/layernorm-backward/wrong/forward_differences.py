"""grad_x is measured by forward differences with a step of 1e-4."""

import numpy as np


def layernorm(x, gamma, beta, eps=1e-5):
    mean = x.mean(axis=-1, keepdims=True)
    d = x - mean
    r = 1.0 / np.sqrt((d * d).mean(axis=-1, keepdims=True) + eps)
    xhat = d * r
    return xhat * gamma + beta, (xhat, r, gamma, x, beta, eps)


def layernorm_backward(grad_y, ctx):
    xhat, r, gamma, x, beta, eps = ctx
    rows = tuple(range(grad_y.ndim - 1))
    grad_x = np.empty_like(x)
    base = layernorm(x, gamma, beta, eps)[0]
    for at in np.ndindex(*x.shape):
        moved = x.copy()
        moved[at] += 1e-4
        grad_x[at] = (grad_y * (layernorm(moved, gamma, beta, eps)[0] - base)).sum() / 1e-4
    return grad_x, (grad_y * xhat).sum(axis=rows), grad_y.sum(axis=rows)
