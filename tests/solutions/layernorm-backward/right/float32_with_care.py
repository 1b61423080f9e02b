"""Float32 throughout: shifted by the first entry of the row, then twice by the mean that is left."""

import numpy as np

WHY = {"no-reference": "b", "not-enough": "c", "rms": "a"}


def _center(x):
    d = x - x[..., :1]
    for _ in range(2):
        d = d - d.mean(axis=-1, keepdims=True)
    return d


def _root(d, eps):
    scale = np.abs(d).max(axis=-1, keepdims=True)
    scale = np.where(scale > 0, scale, np.ones_like(scale))
    u = d / scale
    return scale * np.sqrt((u * u).mean(axis=-1, keepdims=True) + eps / scale / scale)


def _over_rows(values):
    while values.ndim > 1:
        values = values.sum(axis=0)
    return values


def layernorm(x, gamma, beta, eps=1e-5):
    d = _center(x)
    root = _root(d, eps)
    return d / root * gamma + beta, (d, root, gamma)


def layernorm_backward(grad_y, ctx):
    d, root, gamma = ctx
    xhat = d / root
    g = _center(grad_y * gamma)
    return (g - xhat * (g * xhat).mean(axis=-1, keepdims=True)) / root, _over_rows(grad_y * xhat), _over_rows(grad_y)


def rmsnorm(x, gamma, eps=1e-5):
    root = _root(x, eps)
    return x / root * gamma, (x, root, gamma)


def rmsnorm_backward(grad_y, ctx):
    x, root, gamma = ctx
    xhat = x / root
    g = grad_y * gamma
    return (g - xhat * (g * xhat).mean(axis=-1, keepdims=True)) / root, _over_rows(grad_y * xhat)
