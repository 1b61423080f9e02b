# %% centering_matrix
"""The mean is a product with a matrix of 1 / D, the same forward and backward."""

import functools

import numpy as np

WHY = {"no-reference": "b", "not-enough": "c", "rms": "a"}


@functools.lru_cache(maxsize=8)
def _averaging(width, dtype):
    return np.full((width, width), 1 / width, dtype)


def _mean(x):
    return x @ _averaging(x.shape[-1], x.dtype)


def layernorm(x, gamma, beta, eps=1e-5):
    d = x - _mean(x)
    r = 1.0 / np.sqrt(_mean(d * d)[..., :1] + eps)
    return d * r * gamma + beta, (d * r, r, gamma)


def layernorm_backward(grad_y, ctx):
    xhat, r, gamma = ctx
    g = grad_y * gamma
    rows = (-1, gamma.size)
    flat = grad_y.reshape(rows)
    grad_gamma = np.einsum("nd,nd->d", flat, xhat.reshape(rows))
    return (g - _mean(g) - xhat * _mean(g * xhat)) * r, grad_gamma, np.ones(len(flat), flat.dtype) @ flat


def rmsnorm(x, gamma, eps=1e-5):
    r = 1.0 / np.sqrt(_mean(x * x)[..., :1] + eps)
    return x * r * gamma, (x * r, r, gamma)


def rmsnorm_backward(grad_y, ctx):
    xhat, r, gamma = ctx
    g = grad_y * gamma
    rows = (-1, gamma.size)
    return (g - xhat * _mean(g * xhat)) * r, np.einsum("nd,nd->d", grad_y.reshape(rows), xhat.reshape(rows))


# %% float32_with_care
"""Float32 throughout: shifted by the first entry of the row, then twice by the mean that is left."""

import numpy as np

WHY = {"no-reference": "b", "not-enough": "c", "rms": "a"}


def _center(x):
    d = x - x[..., :1]
    for _ in range(2):
        d = d - d.mean(axis=-1, keepdims=True)
    return d


def _root(d, eps):
    scale = np.abs(d).max(axis=-1, keepdims=True)
    scale = np.where(scale > 0, scale, np.ones_like(scale))
    u = d / scale
    return scale * np.sqrt((u * u).mean(axis=-1, keepdims=True) + eps / scale / scale)


def _over_rows(values):
    while values.ndim > 1:
        values = values.sum(axis=0)
    return values


def layernorm(x, gamma, beta, eps=1e-5):
    d = _center(x)
    root = _root(d, eps)
    return d / root * gamma + beta, (d, root, gamma)


def layernorm_backward(grad_y, ctx):
    d, root, gamma = ctx
    xhat = d / root
    g = _center(grad_y * gamma)
    return (g - xhat * (g * xhat).mean(axis=-1, keepdims=True)) / root, _over_rows(grad_y * xhat), _over_rows(grad_y)


def rmsnorm(x, gamma, eps=1e-5):
    root = _root(x, eps)
    return x / root * gamma, (x, root, gamma)


def rmsnorm_backward(grad_y, ctx):
    x, root, gamma = ctx
    xhat = x / root
    g = grad_y * gamma
    return (g - xhat * (g * xhat).mean(axis=-1, keepdims=True)) / root, _over_rows(grad_y * xhat)


# %% plain_loops
"""Python floats and loops over lists, which keep the input by reference and two numbers per row."""

import math

import numpy as np

WHY = {"no-reference": "b", "not-enough": "c", "rms": "a"}


def _rows(array):
    return [array[at].tolist() for at in np.ndindex(*array.shape[:-1])]


def _array(rows, like):
    return np.array(rows, like.dtype).reshape(like.shape)


def _forward(x, gamma, beta, eps, center):
    out, kept = [], []
    for row in _rows(x):
        mean = sum(row) / len(row) if center else 0.0
        deviations = [value - mean for value in row]
        r = 1.0 / math.sqrt(sum(d * d for d in deviations) / len(row) + eps)
        out.append([d * r * w + b for d, w, b in zip(deviations, gamma.tolist(), beta, strict=True)])
        kept.append((mean, r))
    return _array(out, x), (x, kept, gamma)


def _backward(grad_y, ctx, center):
    x, kept, gamma = ctx
    weights = gamma.tolist()
    width = len(weights)
    grad_x, grad_gamma, grad_beta = [], [0.0] * width, [0.0] * width
    for row, dy, (mean, r) in zip(_rows(x), _rows(grad_y), kept, strict=True):
        xhat = [(value - mean) * r for value in row]
        g = [d * w for d, w in zip(dy, weights, strict=True)]
        through_mean = sum(g) / width if center else 0.0
        through_root = sum(a * b for a, b in zip(g, xhat, strict=True)) / width
        grad_x.append([r * (a - through_mean - b * through_root) for a, b in zip(g, xhat, strict=True)])
        for k in range(width):
            grad_gamma[k] += dy[k] * xhat[k]
            grad_beta[k] += dy[k]
    return _array(grad_x, grad_y), _array(grad_gamma, gamma), _array(grad_beta, gamma)


def layernorm(x, gamma, beta, eps=1e-5):
    return _forward(x, gamma, beta.tolist(), eps, True)


def layernorm_backward(grad_y, ctx):
    return _backward(grad_y, ctx, True)


def rmsnorm(x, gamma, eps=1e-5):
    return _forward(x, gamma, [0.0] * len(gamma), eps, False)


def rmsnorm_backward(grad_y, ctx):
    return _backward(grad_y, ctx, False)[:2]


# %% python_lists
"""Nothing but Python floats and loops over lists; what is kept of each row is a list too."""

import math

import numpy as np

WHY = {"no-reference": "b", "not-enough": "c", "rms": "a"}


def _rows(array):
    return [array[at].tolist() for at in np.ndindex(*array.shape[:-1])]


def _array(rows, like):
    return np.array(rows, like.dtype).reshape(like.shape)


def _forward(x, gamma, beta, eps, center):
    out, kept = [], []
    for row in _rows(x):
        mean = sum(row) / len(row) if center else 0.0
        deviations = [value - mean for value in row]
        r = 1.0 / math.sqrt(sum(d * d for d in deviations) / len(row) + eps)
        out.append([d * r * w + b for d, w, b in zip(deviations, gamma.tolist(), beta, strict=True)])
        kept.append((deviations, r))
    return _array(out, x), (kept, gamma)


def _backward(grad_y, ctx, center):
    kept, gamma = ctx
    weights = gamma.tolist()
    width = len(weights)
    grad_x, grad_gamma, grad_beta = [], [0.0] * width, [0.0] * width
    for dy, (deviations, r) in zip(_rows(grad_y), kept, strict=True):
        xhat = [d * r for d in deviations]
        g = [d * w for d, w in zip(dy, weights, strict=True)]
        through_mean = sum(g) / width if center else 0.0
        through_root = sum(a * b for a, b in zip(g, xhat, strict=True)) / width
        grad_x.append([r * (a - through_mean - b * through_root) for a, b in zip(g, xhat, strict=True)])
        for k in range(width):
            grad_gamma[k] += dy[k] * xhat[k]
            grad_beta[k] += dy[k]
    return _array(grad_x, grad_y), _array(grad_gamma, gamma), _array(grad_beta, gamma)


def layernorm(x, gamma, beta, eps=1e-5):
    return _forward(x, gamma, beta.tolist(), eps, True)


def layernorm_backward(grad_y, ctx):
    return _backward(grad_y, ctx, True)


def rmsnorm(x, gamma, eps=1e-5):
    return _forward(x, gamma, [0.0] * len(gamma), eps, False)


def rmsnorm_backward(grad_y, ctx):
    return _backward(grad_y, ctx, False)[:2]


# %% repaired_starter
"""The starter with as few changes as possible."""

import numpy as np

WHY = {"no-reference": "b", "not-enough": "c", "rms": "a"}


def layernorm(x, gamma, beta, eps=1e-5):
    """Normalize the last axis of x (..., D); return y and what the backward pass needs."""
    mean = x.mean(axis=-1, keepdims=True)
    var = ((x - mean) ** 2).mean(axis=-1, keepdims=True)
    rstd = 1 / np.sqrt(var + eps)
    xhat = (x - mean) * rstd
    return xhat * gamma + beta, (xhat, rstd, gamma)


def layernorm_backward(grad_y, ctx):
    """Return (grad_x, grad_gamma, grad_beta) for grad_y (..., D)."""
    xhat, rstd, gamma = ctx
    rows = tuple(range(grad_y.ndim - 1))
    g = grad_y * gamma
    grad_x = g - g.mean(axis=-1, keepdims=True) - xhat * (g * xhat).mean(axis=-1, keepdims=True)
    return grad_x * rstd, (grad_y * xhat).sum(axis=rows), grad_y.sum(axis=rows)


def rmsnorm(x, gamma, eps=1e-5):
    rrms = 1 / np.sqrt((x * x).mean(axis=-1, keepdims=True) + eps)
    return x * rrms * gamma, (x * rrms, rrms, gamma)


def rmsnorm_backward(grad_y, ctx):
    xhat, rrms, gamma = ctx
    g = grad_y * gamma
    grad_x = g - xhat * (g * xhat).mean(axis=-1, keepdims=True)
    return grad_x * rrms, (grad_y * xhat).sum(axis=tuple(range(grad_y.ndim - 1)))


# %% rms_is_layernorm_without_the_mean
"""One core for both, called with partials; the ctx is made of bytes and a shape."""

from functools import partial

import numpy as np

WHY = {"no-reference": "b", "not-enough": "c", "rms": "a"}


def _unpacked(ctx):
    data, shape, dtype, r, gamma = ctx
    return np.frombuffer(data, dtype).reshape(shape), r, gamma


def _core(subtract, x, gamma, eps):
    d = x - x.mean(-1, keepdims=True) if subtract else x
    r = np.power(np.mean(np.abs(d) ** 2, -1, keepdims=True) + eps, -0.5)
    xhat = d * r
    return xhat * gamma, (xhat.tobytes(), x.shape, x.dtype.str, r, gamma)


def _back(subtract, grad_y, ctx):
    xhat, r, gamma = _unpacked(ctx)
    g = grad_y * gamma
    rest = g - xhat * np.average(g * xhat, axis=-1)[..., None]
    grad_x = r * (rest - np.average(rest, axis=-1)[..., None]) if subtract else r * rest
    return grad_x, np.add.reduce((grad_y * xhat).reshape(-1, gamma.size))


def layernorm(x, gamma, beta, eps=1e-5):
    y, ctx = _core(True, x, gamma, eps)
    return y + beta, ctx


def layernorm_backward(grad_y, ctx):
    return *_back(True, grad_y, ctx), np.add.reduce(grad_y.reshape(-1, grad_y.shape[-1]))


def rmsnorm(x, gamma, eps=1e-5):
    return _core(False, x, gamma, eps)


rmsnorm_backward = partial(_back, False)


# %% style_a
"""Style: that of flat_rows_divided_by_one and others, repaired."""

import numpy as np

WHY = {"no-reference": "b", "not-enough": "c", "rms": "a"}


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
    return grad_x, (grad_y * xhat).sum(axis=rows), grad_y.sum(axis=rows)


def rmsnorm(x, gamma, eps=1e-5):
    r = 1.0 / np.sqrt((x * x).mean(axis=-1, keepdims=True) + eps)
    return x * r * gamma, (x * r, r, gamma)


def rmsnorm_backward(grad_y, ctx):
    xhat, r, gamma = ctx
    g = grad_y * gamma
    rows = tuple(range(grad_y.ndim - 1))
    grad_x = r * (g - xhat * (g * xhat).mean(axis=-1, keepdims=True))
    return grad_x, (grad_y * xhat).sum(axis=rows)


# %% style_b
"""Style: that of ctx_consumed and others, repaired."""

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
    return x / root * gamma, {"x": x, "root": root, "gamma": gamma}


def rmsnorm_backward(grad_y, ctx):
    x, root, gamma = ctx["x"], ctx["root"], ctx["gamma"]
    dnormal = grad_y * gamma
    along = np.mean(dnormal * x, -1)[..., None] / root**2
    dgamma = (grad_y * x / root).reshape(-1, x.shape[-1]).sum(0)
    return (dnormal - x * along) / root, dgamma


# %% welford
"""Mean and variance by Welford's recurrence, one feature after the other."""

import numpy as np

WHY = {"no-reference": "b", "not-enough": "c", "rms": "a"}


def _statistics(x):
    mean = np.zeros_like(x[..., 0])
    total = np.zeros_like(mean)
    for count in range(1, x.shape[-1] + 1):
        value = x[..., count - 1]
        step = value - mean
        mean = mean + step / count
        total = total + step * (value - mean)
    return mean[..., None], total[..., None] / x.shape[-1]


def layernorm(x, gamma, beta, eps=1e-5):
    mean, var = _statistics(x)
    r = 1.0 / np.sqrt(var + eps)
    return (x - mean) * r * gamma + beta, (x, mean, r, gamma)


def layernorm_backward(grad_y, ctx):
    x, mean, r, gamma = ctx
    xhat = (x - mean) * r
    g = grad_y * gamma
    width = g.shape[-1]
    inner = width * g - g.sum(-1, keepdims=True) - xhat * (g * xhat).sum(-1, keepdims=True)
    lead = tuple(range(grad_y.ndim - 1))
    return inner * r / width, np.sum(grad_y * xhat, lead), np.sum(grad_y, lead)


def rmsnorm(x, gamma, eps=1e-5):
    r = 1.0 / np.sqrt(np.linalg.norm(x, axis=-1, keepdims=True) ** 2 / x.shape[-1] + eps)
    return x * r * gamma, (x, r, gamma)


def rmsnorm_backward(grad_y, ctx):
    x, r, gamma = ctx
    xhat = x * r
    g = grad_y * gamma
    inner = g.shape[-1] * g - xhat * (g * xhat).sum(-1, keepdims=True)
    return inner * r / g.shape[-1], np.sum(grad_y * xhat, tuple(range(grad_y.ndim - 1)))
