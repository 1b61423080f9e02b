"""Style: everything is computed and kept in float64, and rounded on its way out."""

import numpy as np

WHY = {"no-reference": "b", "not-enough": "c", "rms": "a"}


def _wide(*arrays):
    return [np.asarray(a, dtype=np.float64) for a in arrays]


def _narrow(dtype, *arrays):
    return tuple(a.astype(dtype) for a in arrays)


def layernorm(x, gamma, beta, eps=1e-5):
    wide, scale, shift = _wide(x, gamma, beta)
    std = np.sqrt(wide.var(axis=-1, keepdims=True) + eps)
    xhat = (wide - wide.mean(axis=-1, keepdims=True)) / std
    return (xhat * scale + shift).astype(x.dtype), (xhat, std, scale)


def layernorm_backward(grad_y, ctx):
    xhat, std, scale = ctx
    (dy,) = _wide(grad_y)
    axes = tuple(range(dy.ndim - 1))
    g = dy * scale
    centered = g - g.mean(axis=-1, keepdims=True)
    grad_x = (centered - xhat * (centered * xhat).mean(axis=-1, keepdims=True)) / std
    return _narrow(grad_y.dtype, grad_x, (dy * xhat).sum(axis=axes), dy.sum(axis=axes))


def rmsnorm(x, gamma, eps=1e-5):
    wide, scale = _wide(x, gamma)
    rms = np.sqrt(np.mean(wide**2, axis=-1, keepdims=True) + eps)
    return (wide / rms * scale).astype(x.dtype), (wide / rms, rms, scale)


def rmsnorm_backward(grad_y, ctx):
    xhat, rms, scale = ctx
    (dy,) = _wide(grad_y)
    g = dy * scale
    grad_x = (g - xhat * np.mean(g * xhat, axis=-1, keepdims=True)) / rms
    return _narrow(grad_y.dtype, grad_x, (dy * xhat).sum(axis=tuple(range(dy.ndim - 1))))
