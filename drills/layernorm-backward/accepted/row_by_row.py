"""Style: a loop over the rows, each with its own small record."""

import numpy as np

WHY = {"no-reference": "b", "not-enough": "c", "rms": "a"}


def _one(row, eps, center):
    d = row - row.mean() if center else row
    return d, np.sqrt(np.dot(d, d) / row.dtype.type(d.size) + row.dtype.type(eps))


def _forward(x, gamma, beta, eps, center):
    y, kept, divisors = np.empty_like(x), np.empty_like(x), np.empty(x.shape[:-1], x.dtype)
    for at in np.ndindex(*x.shape[:-1]):
        d, divisors[at] = _one(x[at], eps, center)
        kept[at] = d / divisors[at]
        y[at] = kept[at] * gamma + beta
    return y, (kept, divisors, gamma)


def _backward(grad_y, ctx, center):
    kept, divisors, gamma = ctx
    grad_x, grad_gamma, grad_beta = np.empty_like(kept), np.zeros_like(gamma), np.zeros_like(gamma)
    for at in np.ndindex(*divisors.shape):
        g, xhat = grad_y[at] * gamma, kept[at]
        g_out = g - xhat * (np.dot(g, xhat) / xhat.dtype.type(g.size))
        grad_x[at] = (g_out - g.mean() if center else g_out) / divisors[at]
        grad_gamma += grad_y[at] * xhat
        grad_beta += grad_y[at]
    return grad_x, grad_gamma, grad_beta


def layernorm(x, gamma, beta, eps=1e-5):
    return _forward(x, gamma, beta, eps, center=True)


def layernorm_backward(grad_y, ctx):
    return _backward(grad_y, ctx, center=True)


def rmsnorm(x, gamma, eps=1e-5):
    return _forward(x, gamma, 0 * gamma, eps, center=False)


def rmsnorm_backward(grad_y, ctx):
    return _backward(grad_y, ctx, center=False)[:2]
