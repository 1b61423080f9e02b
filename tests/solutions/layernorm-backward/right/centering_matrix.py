"""The mean is a product with a matrix of 1 / D, the same forward and backward."""

import functools

import numpy as np

WHY = {"no-reference": "b", "not-enough": "c", "rms": "a"}


@functools.lru_cache(maxsize=8)
def _averaging(width, dtype):
    return np.full((width, width), 1 / width, dtype)


def _mean(x):
    return x @ _averaging(x.shape[-1], x.dtype)


def layernorm(x, gamma, beta, eps=1e-5):
    d = x - _mean(x)
    r = 1.0 / np.sqrt(_mean(d * d)[..., :1] + eps)
    return d * r * gamma + beta, (d * r, r, gamma)


def layernorm_backward(grad_y, ctx):
    xhat, r, gamma = ctx
    g = grad_y * gamma
    rows = (-1, gamma.size)
    flat = grad_y.reshape(rows)
    grad_gamma = np.einsum("nd,nd->d", flat, xhat.reshape(rows))
    return (g - _mean(g) - xhat * _mean(g * xhat)) * r, grad_gamma, np.ones(len(flat), flat.dtype) @ flat


def rmsnorm(x, gamma, eps=1e-5):
    r = 1.0 / np.sqrt(_mean(x * x)[..., :1] + eps)
    return x * r * gamma, (x * r, r, gamma)


def rmsnorm_backward(grad_y, ctx):
    xhat, r, gamma = ctx
    g = grad_y * gamma
    rows = (-1, gamma.size)
    return (g - xhat * _mean(g * xhat)) * r, np.einsum("nd,nd->d", grad_y.reshape(rows), xhat.reshape(rows))
