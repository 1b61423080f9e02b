"""One core for both, called with partials; the ctx is made of bytes and a shape."""

from functools import partial

import numpy as np

WHY = {"no-reference": "b", "not-enough": "c", "rms": "a"}


def _unpacked(ctx):
    data, shape, dtype, r, gamma = ctx
    return np.frombuffer(data, dtype).reshape(shape), r, gamma


def _core(subtract, x, gamma, eps):
    d = x - x.mean(-1, keepdims=True) if subtract else x
    r = np.power(np.mean(np.abs(d) ** 2, -1, keepdims=True) + eps, -0.5)
    xhat = d * r
    return xhat * gamma, (xhat.tobytes(), x.shape, x.dtype.str, r, gamma)


def _back(subtract, grad_y, ctx):
    xhat, r, gamma = _unpacked(ctx)
    g = grad_y * gamma
    rest = g - xhat * np.average(g * xhat, axis=-1)[..., None]
    grad_x = r * (rest - np.average(rest, axis=-1)[..., None]) if subtract else r * rest
    return grad_x, np.add.reduce((grad_y * xhat).reshape(-1, gamma.size))


def layernorm(x, gamma, beta, eps=1e-5):
    y, ctx = _core(True, x, gamma, eps)
    return y + beta, ctx


def layernorm_backward(grad_y, ctx):
    return *_back(True, grad_y, ctx), np.add.reduce(grad_y.reshape(-1, grad_y.shape[-1]))


def rmsnorm(x, gamma, eps=1e-5):
    return _core(False, x, gamma, eps)


rmsnorm_backward = partial(_back, False)
