# %% deviation_in_place_of_normalized
"""The term through the deviation is multiplied by x - mean, not divided by the deviation."""

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
    dgamma = (grad_y * normal).reshape(-1, width).sum(0)
    dbeta = grad_y.reshape(-1, width).sum(0)
    return (dnormal - across - (x - mu) * along) / std, dgamma, dbeta


# %% eps_capped
"""eps is never more than 1e-3."""

import numpy as np


def layernorm(x, gamma, beta, eps=1e-5):
    mean = x.mean(axis=-1, keepdims=True)
    d = x - mean
    r = 1.0 / np.sqrt((d * d).mean(axis=-1, keepdims=True) + min(eps, 1e-3))
    xhat = d * r
    return xhat * gamma + beta, (xhat, r, gamma)


def layernorm_backward(grad_y, ctx):
    xhat, r, gamma = ctx
    g = grad_y * gamma
    through_mean = g.mean(axis=-1, keepdims=True)
    through_root = xhat * (g * xhat).mean(axis=-1, keepdims=True)
    rows = tuple(range(grad_y.ndim - 1))
    grad_x = r * (g - through_mean - through_root)
    return grad_x, (grad_y * xhat).sum(axis=rows), grad_y.sum(axis=rows)


# %% forward_differences
"""grad_x is measured by forward differences with a step of 1e-4."""

import numpy as np


def layernorm(x, gamma, beta, eps=1e-5):
    mean = x.mean(axis=-1, keepdims=True)
    d = x - mean
    r = 1.0 / np.sqrt((d * d).mean(axis=-1, keepdims=True) + eps)
    xhat = d * r
    return xhat * gamma + beta, (xhat, r, gamma, x, beta, eps)


def layernorm_backward(grad_y, ctx):
    xhat, r, gamma, x, beta, eps = ctx
    rows = tuple(range(grad_y.ndim - 1))
    grad_x = np.empty_like(x)
    base = layernorm(x, gamma, beta, eps)[0]
    for at in np.ndindex(*x.shape):
        moved = x.copy()
        moved[at] += 1e-4
        grad_x[at] = (grad_y * (layernorm(moved, gamma, beta, eps)[0] - base)).sum() / 1e-4
    return grad_x, (grad_y * xhat).sum(axis=rows), grad_y.sum(axis=rows)


# %% gamma_twice
"""gamma multiplies the gradient twice."""

import numpy as np


def layernorm(x, gamma, beta, eps=1e-5):
    mean = x.mean(axis=-1, keepdims=True)
    d = x - mean
    r = 1.0 / np.sqrt((d * d).mean(axis=-1, keepdims=True) + eps)
    xhat = d * r
    return xhat * gamma + beta, (xhat, r, gamma)


def layernorm_backward(grad_y, ctx):
    xhat, r, gamma = ctx
    g = grad_y * gamma
    through_mean = g.mean(axis=-1, keepdims=True)
    through_root = xhat * (g * xhat).mean(axis=-1, keepdims=True)
    rows = tuple(range(grad_y.ndim - 1))
    grad_x = gamma * r * (g - through_mean - through_root)
    return grad_x, (grad_y * xhat).sum(axis=rows), grad_y.sum(axis=rows)


# %% grad_gamma_times_gamma
"""The gradient of gamma has gamma in it."""

import numpy as np


def layernorm(x, gamma, beta, eps=1e-5):
    mean = x.mean(axis=-1, keepdims=True)
    d = x - mean
    r = 1.0 / np.sqrt((d * d).mean(axis=-1, keepdims=True) + eps)
    xhat = d * r
    return xhat * gamma + beta, (xhat, r, gamma)


def layernorm_backward(grad_y, ctx):
    xhat, r, gamma = ctx
    g = grad_y * gamma
    through_mean = g.mean(axis=-1, keepdims=True)
    through_root = xhat * (g * xhat).mean(axis=-1, keepdims=True)
    rows = tuple(range(grad_y.ndim - 1))
    grad_x = r * (g - through_mean - through_root)
    return grad_x, (g * xhat).sum(axis=rows), grad_y.sum(axis=rows)
