"""The gradients of gamma and beta grow from one backward on a ctx to the next."""

import numpy as np

WHY = {"no-reference": "b", "not-enough": "c", "rms": "a"}


def layernorm(x, gamma, beta, eps=1e-5):
    mean = x.mean(axis=-1, keepdims=True)
    d = x - mean
    r = 1.0 / np.sqrt((d * d).mean(axis=-1, keepdims=True) + eps)
    xhat = d * r
    return xhat * gamma + beta, (xhat, r, gamma, [0 * gamma, 0 * gamma])


def layernorm_backward(grad_y, ctx):
    xhat, r, gamma, totals = ctx
    g = grad_y * gamma
    through_mean = g.mean(axis=-1, keepdims=True)
    through_root = xhat * (g * xhat).mean(axis=-1, keepdims=True)
    rows = tuple(range(grad_y.ndim - 1))
    grad_x = r * (g - through_mean - through_root)
    totals[0] = totals[0] + (grad_y * xhat).sum(axis=rows)
    totals[1] = totals[1] + grad_y.sum(axis=rows)
    return grad_x, *(total.copy() for total in totals)


def rmsnorm(x, gamma, eps=1e-5):
    r = 1.0 / np.sqrt((x * x).mean(axis=-1, keepdims=True) + eps)
    return x * r * gamma, (x * r, r, gamma)


def rmsnorm_backward(grad_y, ctx):
    xhat, r, gamma = ctx
    g = grad_y * gamma
    rows = tuple(range(grad_y.ndim - 1))
    grad_x = r * (g - xhat * (g * xhat).mean(axis=-1, keepdims=True))
    return grad_x, (grad_y * xhat).sum(axis=rows)
