"""What backward needs is kept in a list of the module, and x with it; the ctx is its index."""

import numpy as np

WHY = {"no-reference": "b", "not-enough": "c", "rms": "a"}


_KEPT = []


def _keep(*arrays):
    _KEPT.append([array.copy() for array in arrays])
    return len(_KEPT) - 1


def layernorm(x, gamma, beta, eps=1e-5):
    mu = np.mean(x, -1)[..., None]
    std = np.sqrt(np.var(x, -1)[..., None] + eps)
    return (x - mu) / std * gamma + beta, _keep(x, (x - mu) / std, std, gamma)


def layernorm_backward(grad_y, ctx):
    x, normal, std, gamma = _KEPT[ctx]
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
