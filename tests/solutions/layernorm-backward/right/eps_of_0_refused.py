"""An eps of 0 is taken for none, and replaced by 1e-5."""

import numpy as np


def layernorm(x, gamma, beta, eps=1e-5):
    eps = eps or 1e-5
    mean = x.mean(axis=-1, keepdims=True)
    d = x - mean
    r = 1.0 / np.sqrt((d * d).mean(axis=-1, keepdims=True) + eps)
    xhat = d * r
    return xhat * gamma + beta, (xhat, r, gamma)


def layernorm_backward(grad_y, ctx):
    xhat, r, gamma = ctx
    g = grad_y * gamma
    through_mean = g.mean(axis=-1, keepdims=True)
    through_root = xhat * (g * xhat).mean(axis=-1, keepdims=True)
    rows = tuple(range(grad_y.ndim - 1))
    grad_x = r * (g - through_mean - through_root)
    return grad_x, (grad_y * xhat).sum(axis=rows), grad_y.sum(axis=rows)
