"""Style: the Jacobian of every row is written out, and gradients are vectors times matrices."""

import numpy as np

WHY = {"no-reference": "b", "not-enough": "c", "rms": "a"}


def _forward(d, eps):
    scale = np.sqrt(np.mean(d * d, axis=1) + eps)
    return d / scale[:, None], scale


def _jacobians(xhat, scale, center):
    width = xhat.shape[1]
    direct = np.eye(width, dtype=xhat.dtype)
    if center:
        direct = direct - np.full((width, width), 1 / width, xhat.dtype)
    for row, s in zip(xhat, scale):
        yield (direct - np.outer(row, row) / xhat.dtype.type(width)) / s


def layernorm(x, gamma, beta, eps=1e-5):
    flat = x.reshape(-1, x.shape[-1])
    xhat, scale = _forward(flat - flat.mean(axis=1)[:, None], eps)
    return (gamma * xhat + beta).reshape(x.shape), (xhat, scale, gamma)


def layernorm_backward(grad_y, ctx):
    xhat, scale, gamma = ctx
    dy = grad_y.reshape(xhat.shape)
    grad_x = [(row * gamma) @ jac for row, jac in zip(dy, _jacobians(xhat, scale, True))]
    return np.array(grad_x).reshape(grad_y.shape), (dy * xhat).sum(axis=0), dy.sum(axis=0)


def rmsnorm(x, gamma, eps=1e-5):
    xhat, scale = _forward(x.reshape(-1, x.shape[-1]), eps)
    return (gamma * xhat).reshape(x.shape), (xhat, scale, gamma)


def rmsnorm_backward(grad_y, ctx):
    xhat, scale, gamma = ctx
    dy = grad_y.reshape(xhat.shape)
    grad_x = [(row * gamma) @ jac for row, jac in zip(dy, _jacobians(xhat, scale, False))]
    return np.array(grad_x).reshape(grad_y.shape), (dy * xhat).sum(axis=0)
