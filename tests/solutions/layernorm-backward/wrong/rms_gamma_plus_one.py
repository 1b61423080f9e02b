"""RMSNorm multiplies by 1 + gamma, as models do whose gamma begins at 0."""

import numpy as np

WHY = {"no-reference": "b", "not-enough": "c", "rms": "a"}


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
    dgamma = (grad_y * normal).reshape(-1, width).sum(0)
    dbeta = grad_y.reshape(-1, width).sum(0)
    return (dnormal - across - normal * along) / std, dgamma, dbeta


def rmsnorm(x, gamma, eps=1e-5):
    root = np.sqrt(np.mean(np.square(x), -1)[..., None] + eps)
    return x / root * (1 + gamma), {"x": x, "root": root, "gamma": gamma}


def rmsnorm_backward(grad_y, ctx):
    x, root, gamma = ctx["x"], ctx["root"], ctx["gamma"]
    dnormal = grad_y * gamma
    along = np.mean(dnormal * x, -1)[..., None] / root**2
    dgamma = (grad_y * x / root).reshape(-1, x.shape[-1]).sum(0)
    return (dnormal - x * along) / root, dgamma
