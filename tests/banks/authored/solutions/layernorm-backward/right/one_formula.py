"""The three terms over a common denominator."""

import numpy as np


def layernorm_forward(x, gamma, beta, eps):
    mu = np.mean(x, axis=-1, keepdims=True)
    istd = (np.var(x, axis=-1, keepdims=True) + eps) ** -0.5
    return (x - mu) * istd * gamma + beta, {"x": x, "mu": mu, "istd": istd, "gamma": gamma}


def layernorm_backward(grad_y, ctx):
    xhat = (ctx["x"] - ctx["mu"]) * ctx["istd"]
    d = xhat.shape[-1]
    g = grad_y * ctx["gamma"]
    grad_x = ctx["istd"] / d * (d * g - g.sum(-1, keepdims=True) - xhat * (g * xhat).sum(-1, keepdims=True))
    return grad_x, np.einsum("nd,nd->d", grad_y, xhat), np.ones(len(grad_y), grad_y.dtype) @ grad_y
