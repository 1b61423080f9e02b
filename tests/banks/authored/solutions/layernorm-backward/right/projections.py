"""A projection twice: off the ones, off the normalised row; an object for a context."""

import numpy as np


class Context:
    def __init__(self, xhat, scale, gamma):
        self.xhat, self.scale, self.gamma = xhat, scale, gamma


def layernorm_forward(x, gamma, beta, eps):
    wide = np.asarray(x, np.float64)
    xhat = wide - wide.mean(1)[:, None]
    scale = 1 / np.sqrt(np.einsum("nd,nd->n", xhat, xhat) / x.shape[1] + eps)[:, None]
    xhat *= scale
    return (xhat * gamma + beta).astype(x.dtype), Context(xhat, scale, gamma)


def layernorm_backward(grad_y, ctx):
    g = grad_y * ctx.gamma.astype(np.float64)
    g -= g.mean(1, keepdims=True)
    g -= ctx.xhat * np.mean(g * ctx.xhat, axis=1, keepdims=True)
    kind = grad_y.dtype
    return (g * ctx.scale).astype(kind), (grad_y * ctx.xhat).sum(0).astype(kind), grad_y.sum(0)
