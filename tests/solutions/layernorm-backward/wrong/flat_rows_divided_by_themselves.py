"""The reciprocal deviation is recovered as xhat / (x - mean), which is 0 / 0 in a row of equal entries."""

import numpy as np

WHY = {"no-reference": "b", "not-enough": "c", "rms": "a"}


def layernorm(x, gamma, beta, eps=1e-5):
    mu = np.mean(x, -1)[..., None]
    std = np.sqrt(np.var(x, -1)[..., None] + eps)
    return (x - mu) / std * gamma + beta, {"x": x, "mu": mu, "normal": (x - mu) / std, "gamma": gamma}


def layernorm_backward(grad_y, ctx):
    x, mu, normal, gamma = ctx["x"], ctx["mu"], ctx["normal"], ctx["gamma"]
    std = ((x - mu) / normal).max(-1)[..., None]
    dnormal = grad_y * gamma
    width = x.shape[-1]
    across = np.sum(dnormal, -1)[..., None] / width
    along = np.sum(dnormal * normal, -1)[..., None] / width
    dgamma = (grad_y * normal).reshape(-1, width).sum(0)
    dbeta = grad_y.reshape(-1, width).sum(0)
    return (dnormal - across - normal * along) / std, dgamma, dbeta


def rmsnorm(x, gamma, eps=1e-5):
    root = np.sqrt(np.mean(np.square(x), -1)[..., None] + eps)
    return x / root * gamma, {"x": x, "root": root, "gamma": gamma}


def rmsnorm_backward(grad_y, ctx):
    x, root, gamma = ctx["x"], ctx["root"], ctx["gamma"]
    dnormal = grad_y * gamma
    along = np.mean(dnormal * x, -1)[..., None] / root**2
    dgamma = (grad_y * x / root).reshape(-1, x.shape[-1]).sum(0)
    return (dnormal - x * along) / root, dgamma
