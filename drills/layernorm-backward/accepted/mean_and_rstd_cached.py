"""As in small C and CUDA runtimes: x, its mean and rstd are cached, the norm is recomputed."""

import numpy as np


class LayerNorm:
    @staticmethod
    def forward(x, w, b, eps):
        mean = x.sum(-1, keepdims=True) / x.shape[-1]
        xshift = x - mean
        var = (xshift**2).sum(-1, keepdims=True) / x.shape[-1]
        rstd = (var + eps) ** -0.5
        norm = xshift * rstd
        return norm * w + b, (x, w, mean, rstd)

    @staticmethod
    def backward(dout, cache):
        x, w, mean, rstd = cache
        norm = (x - mean) * rstd
        db = dout.sum(tuple(range(dout.ndim - 1)))
        dw = (dout * norm).sum(tuple(range(dout.ndim - 1)))
        dnorm = dout * w
        dx = dnorm - dnorm.mean(-1, keepdims=True) - norm * (dnorm * norm).mean(-1, keepdims=True)
        dx *= rstd
        return dx, dw, db


def layernorm(x, gamma, beta, eps=1e-5):
    return LayerNorm.forward(x, gamma, beta, eps)


def layernorm_backward(grad_y, ctx):
    return LayerNorm.backward(grad_y, ctx)
