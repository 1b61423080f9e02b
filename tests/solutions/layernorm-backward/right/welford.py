"""Mean and variance by Welford's recurrence, one feature after the other."""

import numpy as np

WHY = {"no-reference": "b", "not-enough": "c", "rms": "a"}


def _statistics(x):
    mean = np.zeros_like(x[..., 0])
    total = np.zeros_like(mean)
    for count in range(1, x.shape[-1] + 1):
        value = x[..., count - 1]
        step = value - mean
        mean = mean + step / count
        total = total + step * (value - mean)
    return mean[..., None], total[..., None] / x.shape[-1]


def layernorm(x, gamma, beta, eps=1e-5):
    mean, var = _statistics(x)
    r = 1.0 / np.sqrt(var + eps)
    return (x - mean) * r * gamma + beta, (x, mean, r, gamma)


def layernorm_backward(grad_y, ctx):
    x, mean, r, gamma = ctx
    xhat = (x - mean) * r
    g = grad_y * gamma
    width = g.shape[-1]
    inner = width * g - g.sum(-1, keepdims=True) - xhat * (g * xhat).sum(-1, keepdims=True)
    lead = tuple(range(grad_y.ndim - 1))
    return inner * r / width, np.sum(grad_y * xhat, lead), np.sum(grad_y, lead)


def rmsnorm(x, gamma, eps=1e-5):
    r = 1.0 / np.sqrt(np.linalg.norm(x, axis=-1, keepdims=True) ** 2 / x.shape[-1] + eps)
    return x * r * gamma, (x, r, gamma)


def rmsnorm_backward(grad_y, ctx):
    x, r, gamma = ctx
    xhat = x * r
    g = grad_y * gamma
    inner = g.shape[-1] * g - xhat * (g * xhat).sum(-1, keepdims=True)
    return inner * r / g.shape[-1], np.sum(grad_y * xhat, tuple(range(grad_y.ndim - 1)))
