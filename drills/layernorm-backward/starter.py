"""LayerNorm of our training runtime, forward and backward."""

import numpy as np


def layernorm(x, gamma, beta, eps=1e-5):
    """Normalize the last axis of x (..., D); return y and a ctx."""
    mean = x.mean(axis=-1, keepdims=True)
    var = (x * x).mean(axis=-1, keepdims=True) - mean * mean
    rstd = 1 / np.sqrt(var + eps)
    y = (x - mean) * rstd * gamma + beta
    return y, (y, rstd, gamma, beta)


def layernorm_backward(grad_y, ctx):
    """Return (grad_x, grad_gamma, grad_beta) for grad_y (..., D)."""
    y, rstd, gamma, beta = ctx
    xhat = (y - beta) / gamma
    rows = tuple(range(grad_y.ndim - 1))
    grad_gamma = (grad_y * xhat).sum(axis=rows)
    grad_beta = grad_y.sum(axis=rows)
    grad_x = grad_y * gamma * rstd
    return grad_x, grad_gamma, grad_beta
