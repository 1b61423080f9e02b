"""The starter with as few changes as possible."""

import numpy as np

WHY = {"no-reference": "b", "not-enough": "c", "rms": "a"}


def layernorm(x, gamma, beta, eps=1e-5):
    """Normalize the last axis of x (..., D); return y and what the backward pass needs."""
    mean = x.mean(axis=-1, keepdims=True)
    var = ((x - mean) ** 2).mean(axis=-1, keepdims=True)
    rstd = 1 / np.sqrt(var + eps)
    xhat = (x - mean) * rstd
    return xhat * gamma + beta, (xhat, rstd, gamma)


def layernorm_backward(grad_y, ctx):
    """Return (grad_x, grad_gamma, grad_beta) for grad_y (..., D)."""
    xhat, rstd, gamma = ctx
    rows = tuple(range(grad_y.ndim - 1))
    g = grad_y * gamma
    grad_x = g - g.mean(axis=-1, keepdims=True) - xhat * (g * xhat).mean(axis=-1, keepdims=True)
    return grad_x * rstd, (grad_y * xhat).sum(axis=rows), grad_y.sum(axis=rows)


def rmsnorm(x, gamma, eps=1e-5):
    rrms = 1 / np.sqrt((x * x).mean(axis=-1, keepdims=True) + eps)
    return x * rrms * gamma, (x * rrms, rrms, gamma)


def rmsnorm_backward(grad_y, ctx):
    xhat, rrms, gamma = ctx
    g = grad_y * gamma
    grad_x = g - xhat * (g * xhat).mean(axis=-1, keepdims=True)
    return grad_x * rrms, (grad_y * xhat).sum(axis=tuple(range(grad_y.ndim - 1)))
