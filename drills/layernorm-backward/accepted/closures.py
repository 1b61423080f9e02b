"""Style: the ctx is a function that makes the gradients."""

import numpy as np

WHY = {"no-reference": "b", "not-enough": "c", "rms": "a"}


def _normalizer(center):
    def forward(x, eps):
        d = x - x.mean(-1, keepdims=True) if center else x
        r = 1 / np.sqrt(np.square(d).mean(-1, keepdims=True) + eps)
        xhat = d * r

        def backward(g):
            out = g - xhat * np.mean(g * xhat, -1, keepdims=True)
            if center:
                out = out - g.mean(-1, keepdims=True)
            return out * r

        return xhat, backward

    return forward


def _scaled(xhat, gamma):
    def backward(grad_y):
        rows = (grad_y * xhat).reshape(-1, gamma.shape[0])
        return grad_y * gamma, rows.sum(0)

    return xhat * gamma, backward


def layernorm(x, gamma, beta, eps=1e-5):
    xhat, through_norm = _normalizer(True)(x, eps)
    scaled, through_scale = _scaled(xhat, gamma)

    def backward(grad_y):
        g, grad_gamma = through_scale(grad_y)
        return through_norm(g), grad_gamma, grad_y.reshape(-1, len(beta)).sum(0)

    return scaled + beta, backward


def rmsnorm(x, gamma, eps=1e-5):
    xhat, through_norm = _normalizer(False)(x, eps)
    y, through_scale = _scaled(xhat, gamma)

    def backward(grad_y):
        g, grad_gamma = through_scale(grad_y)
        return through_norm(g), grad_gamma

    return y, backward


def layernorm_backward(grad_y, ctx):
    return ctx(grad_y)


def rmsnorm_backward(grad_y, ctx):
    return ctx(grad_y)
