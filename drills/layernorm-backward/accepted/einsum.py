"""Style: every sum is an einsum; what is kept is x and the two statistics of each row."""

import numpy as np

WHY = {"no-reference": "b", "not-enough": "c", "rms": "a"}


def _dot(a, b):
    return np.einsum("...d,...d->...", a, b)[..., None] / a.shape[-1]


def _over_rows(a, b):
    width = a.shape[-1]
    return np.einsum("nd,nd->d", a.reshape(-1, width), b.reshape(-1, width))


def layernorm(x, gamma, beta, eps=1e-5):
    mean = np.einsum("...d->...", x)[..., None] / x.shape[-1]
    d = x - mean
    r = (_dot(d, d) + eps) ** -0.5
    return np.einsum("...d,d->...d", d * r, gamma) + beta, {"x": x, "mean": mean, "r": r, "gamma": gamma}


def layernorm_backward(grad_y, ctx):
    xhat = (ctx["x"] - ctx["mean"]) * ctx["r"]
    g = np.einsum("...d,d->...d", grad_y, ctx["gamma"])
    across = g - np.einsum("...d->...", g)[..., None] / g.shape[-1]
    grad_x = ctx["r"] * (across - xhat * _dot(g, xhat))
    return grad_x, _over_rows(grad_y, xhat), _over_rows(grad_y, np.ones_like(xhat))


def rmsnorm(x, gamma, eps=1e-5):
    r = (_dot(x, x) + eps) ** -0.5
    return np.einsum("...d,...o,d->...d", x, r, gamma), {"x": x, "r": r, "gamma": gamma}


def rmsnorm_backward(grad_y, ctx):
    x, r = ctx["x"], ctx["r"]
    g = grad_y * ctx["gamma"]
    return r * g - x * _dot(g, x) * r**3, _over_rows(grad_y * r, x)
