"""The gradients of gamma and beta keep an axis of length 1."""

import numpy as np


def layernorm(x, gamma, beta, eps=1e-5):
    mu = np.mean(x, -1)[..., None]
    std = np.sqrt(np.var(x, -1)[..., None] + eps)
    return (x - mu) / std * gamma + beta, {"x": x, "mu": mu, "std": std, "gamma": gamma}


def layernorm_backward(grad_y, ctx):
    x, mu, std, gamma = ctx["x"], ctx["mu"], ctx["std"], ctx["gamma"]
    normal = (x - mu) / std
    dnormal = grad_y * gamma
    width = x.shape[-1]
    across = np.sum(dnormal, -1)[..., None] / width
    along = np.sum(dnormal * normal, -1)[..., None] / width
    dgamma = (grad_y * normal).reshape(-1, width).sum(0, keepdims=True)
    dbeta = grad_y.reshape(-1, width).sum(0, keepdims=True)
    return (dnormal - across - normal * along) / std, dgamma, dbeta
