"""Everything is computed in float32 and returned as float64."""

import numpy as np


def layernorm(x, gamma, beta, eps=1e-5):
    x, kind = x.astype(np.float32), x.dtype
    mu = np.mean(x, -1)[..., None]
    std = np.sqrt(np.var(x, -1)[..., None] + eps)
    return ((x - mu) / std * gamma + beta).astype(kind), {"x": x, "mu": mu, "std": std, "gamma": gamma}


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
