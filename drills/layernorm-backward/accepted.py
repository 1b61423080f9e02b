# %% callable-instances
"""Style: instances with __call__ for the functions, and a class for what is kept."""

from dataclasses import dataclass

import numpy as np

WHY = {"no-reference": "b", "not-enough": "c", "rms": "a"}

@dataclass
class Kept:
    deviations: np.ndarray
    inverse: np.ndarray
    gamma: np.ndarray

    @property
    def normalized(self):
        return self.deviations * self.inverse

class Forward:
    def __init__(self, subtract):
        self.subtract = subtract

    def kept(self, x, gamma, eps):
        d = x - self.subtract(x)
        return Kept(d, np.reciprocal(np.sqrt((d**2).mean(-1)[..., None] + eps)), gamma)

class LayerNorm(Forward):
    def __call__(self, x, gamma, beta, eps=1e-5):
        kept = self.kept(x, gamma, eps)
        return kept.normalized * gamma + beta, kept

class RMSNorm(Forward):
    def __call__(self, x, gamma, eps=1e-5):
        kept = self.kept(x, gamma, eps)
        return kept.normalized * gamma, kept

class Backward:
    def __init__(self, subtract, names):
        self.subtract = subtract
        self.names = names

    def __call__(self, grad_y, kept):
        return tuple(getattr(self, name)(grad_y, kept) for name in self.names)

    def x(self, grad_y, kept):
        g = grad_y * kept.gamma
        along = kept.normalized * (g * kept.normalized).mean(-1)[..., None]
        return (g - along - self.subtract(g)) * kept.inverse

    def gamma(self, grad_y, kept):
        return np.tensordot(np.ones(grad_y.shape[:-1], grad_y.dtype), grad_y * kept.normalized, grad_y.ndim - 1)

    def beta(self, grad_y, kept):
        return np.tensordot(np.ones(grad_y.shape[:-1], grad_y.dtype), grad_y, grad_y.ndim - 1)

def _mean(values):
    return values.mean(-1)[..., None]

def _nothing(values):
    return values.dtype.type(0)

layernorm = LayerNorm(_mean)
layernorm_backward = Backward(_mean, ("x", "gamma", "beta"))
rmsnorm = RMSNorm(_nothing)
rmsnorm_backward = Backward(_nothing, ("x", "gamma"))

# %% closures
"""Style: the ctx is a function that makes the gradients."""

import numpy as np

WHY = {"no-reference": "b", "not-enough": "c", "rms": "a"}

def _normalizer(center):
    def forward(x, eps):
        d = x - x.mean(-1, keepdims=True) if center else x
        r = 1 / np.sqrt(np.square(d).mean(-1, keepdims=True) + eps)
        xhat = d * r

        def backward(g):
            out = g - xhat * np.mean(g * xhat, -1, keepdims=True)
            if center:
                out = out - g.mean(-1, keepdims=True)
            return out * r

        return xhat, backward

    return forward

def _scaled(xhat, gamma):
    def backward(grad_y):
        rows = (grad_y * xhat).reshape(-1, gamma.shape[0])
        return grad_y * gamma, rows.sum(0)

    return xhat * gamma, backward

def layernorm(x, gamma, beta, eps=1e-5):
    xhat, through_norm = _normalizer(True)(x, eps)
    scaled, through_scale = _scaled(xhat, gamma)

    def backward(grad_y):
        g, grad_gamma = through_scale(grad_y)
        return through_norm(g), grad_gamma, grad_y.reshape(-1, len(beta)).sum(0)

    return scaled + beta, backward

def rmsnorm(x, gamma, eps=1e-5):
    xhat, through_norm = _normalizer(False)(x, eps)
    y, through_scale = _scaled(xhat, gamma)

    def backward(grad_y):
        g, grad_gamma = through_scale(grad_y)
        return through_norm(g), grad_gamma

    return y, backward

def layernorm_backward(grad_y, ctx):
    return ctx(grad_y)

def rmsnorm_backward(grad_y, ctx):
    return ctx(grad_y)

# %% einsum
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

# %% float64-inside
"""Style: everything is computed and kept in float64, and rounded on its way out."""

import numpy as np

WHY = {"no-reference": "b", "not-enough": "c", "rms": "a"}

def _wide(*arrays):
    return [np.asarray(a, dtype=np.float64) for a in arrays]

def _narrow(dtype, *arrays):
    return tuple(a.astype(dtype) for a in arrays)

def layernorm(x, gamma, beta, eps=1e-5):
    wide, scale, shift = _wide(x, gamma, beta)
    std = np.sqrt(wide.var(axis=-1, keepdims=True) + eps)
    xhat = (wide - wide.mean(axis=-1, keepdims=True)) / std
    return (xhat * scale + shift).astype(x.dtype), (xhat, std, scale)

def layernorm_backward(grad_y, ctx):
    xhat, std, scale = ctx
    (dy,) = _wide(grad_y)
    axes = tuple(range(dy.ndim - 1))
    g = dy * scale
    centered = g - g.mean(axis=-1, keepdims=True)
    grad_x = (centered - xhat * (centered * xhat).mean(axis=-1, keepdims=True)) / std
    return _narrow(grad_y.dtype, grad_x, (dy * xhat).sum(axis=axes), dy.sum(axis=axes))

def rmsnorm(x, gamma, eps=1e-5):
    wide, scale = _wide(x, gamma)
    rms = np.sqrt(np.mean(wide**2, axis=-1, keepdims=True) + eps)
    return (wide / rms * scale).astype(x.dtype), (wide / rms, rms, scale)

def rmsnorm_backward(grad_y, ctx):
    xhat, rms, scale = ctx
    (dy,) = _wide(grad_y)
    g = dy * scale
    grad_x = (g - xhat * np.mean(g * xhat, axis=-1, keepdims=True)) / rms
    return _narrow(grad_y.dtype, grad_x, (dy * xhat).sum(axis=tuple(range(dy.ndim - 1))))

# %% in-place-on-copies
"""Style: one buffer for each result, written in place; features first."""

import numpy as np

WHY = {"no-reference": "b", "not-enough": "c", "rms": "a"}

def _columns(array):
    """A copy (D, rows)."""
    return array.reshape(-1, array.shape[-1]).T.copy()

def _rows(columns, shape):
    return np.ascontiguousarray(columns.T).reshape(shape)

def _scale(columns, eps):
    norm = np.square(columns).mean(axis=0)
    norm += eps
    np.sqrt(norm, out=norm)
    columns /= norm
    return norm

def layernorm(x, gamma, beta, eps=1e-5):
    columns = _columns(x)
    columns -= columns.mean(axis=0)
    norm = _scale(columns, eps)
    y = columns * gamma[:, None]
    y += beta[:, None]
    return _rows(y, x.shape), [columns, norm, gamma]

def rmsnorm(x, gamma, eps=1e-5):
    columns = _columns(x)
    norm = _scale(columns, eps)
    return _rows(columns * gamma[:, None], x.shape), [columns, norm, gamma]

def _backward(grad_y, ctx, shift):
    columns, norm, gamma = ctx
    g = _columns(grad_y)
    grad_beta = g.sum(axis=1)
    product = g * columns
    grad_gamma = product.sum(axis=1)
    product *= gamma[:, None]
    g *= gamma[:, None]
    if shift:
        g -= g.mean(axis=0)
    np.multiply(columns, product.mean(axis=0), out=product)
    g -= product
    g /= norm
    return _rows(g, grad_y.shape), grad_gamma, grad_beta

def layernorm_backward(grad_y, ctx):
    return _backward(grad_y, ctx, True)

def rmsnorm_backward(grad_y, ctx):
    return _backward(grad_y, ctx, False)[:2]

# %% jacobian-of-a-row
"""Style: the Jacobian of every row is written out, and gradients are vectors times matrices."""

import numpy as np

WHY = {"no-reference": "b", "not-enough": "c", "rms": "a"}

def _forward(d, eps):
    scale = np.sqrt(np.mean(d * d, axis=1) + eps)
    return d / scale[:, None], scale

def _jacobians(xhat, scale, center):
    width = xhat.shape[1]
    direct = np.eye(width, dtype=xhat.dtype)
    if center:
        direct = direct - np.full((width, width), 1 / width, xhat.dtype)
    for row, s in zip(xhat, scale):
        yield (direct - np.outer(row, row) / xhat.dtype.type(width)) / s

def layernorm(x, gamma, beta, eps=1e-5):
    flat = x.reshape(-1, x.shape[-1])
    xhat, scale = _forward(flat - flat.mean(axis=1)[:, None], eps)
    return (gamma * xhat + beta).reshape(x.shape), (xhat, scale, gamma)

def layernorm_backward(grad_y, ctx):
    xhat, scale, gamma = ctx
    dy = grad_y.reshape(xhat.shape)
    grad_x = [(row * gamma) @ jac for row, jac in zip(dy, _jacobians(xhat, scale, True))]
    return np.array(grad_x).reshape(grad_y.shape), (dy * xhat).sum(axis=0), dy.sum(axis=0)

def rmsnorm(x, gamma, eps=1e-5):
    xhat, scale = _forward(x.reshape(-1, x.shape[-1]), eps)
    return (gamma * xhat).reshape(x.shape), (xhat, scale, gamma)

def rmsnorm_backward(grad_y, ctx):
    xhat, scale, gamma = ctx
    dy = grad_y.reshape(xhat.shape)
    grad_x = [(row * gamma) @ jac for row, jac in zip(dy, _jacobians(xhat, scale, False))]
    return np.array(grad_x).reshape(grad_y.shape), (dy * xhat).sum(axis=0)

# %% operation-by-operation
"""Style: every operation of the forward pass is undone by itself, in reverse order."""

import numpy as np

WHY = {"no-reference": "b", "not-enough": "c", "rms": "a"}

def layernorm(x, gamma, beta, eps=1e-5):
    mu = np.mean(x, axis=-1, keepdims=True)
    xmu = x - mu
    var = np.mean(xmu**2, axis=-1, keepdims=True)
    sqrtvar = np.sqrt(var + eps)
    ivar = 1 / sqrtvar
    xhat = xmu * ivar
    return gamma * xhat + beta, (xmu, ivar, sqrtvar, gamma)

def layernorm_backward(grad_y, ctx):
    xmu, ivar, sqrtvar, gamma = ctx
    width = xmu.shape[-1]
    over = tuple(range(grad_y.ndim - 1))
    dbeta = np.sum(grad_y, axis=over)
    dgamma = np.sum(grad_y * xmu * ivar, axis=over)
    dxhat = grad_y * gamma
    divar = np.sum(dxhat * xmu, axis=-1, keepdims=True)
    dsqrtvar = -divar / sqrtvar**2
    dvar = 0.5 * dsqrtvar * ivar
    dxmu = dxhat * ivar + 2 * xmu * np.ones_like(xmu) * dvar / width
    dmu = -np.sum(dxmu, axis=-1, keepdims=True)
    return dxmu + dmu / width, dgamma, dbeta

def rmsnorm(x, gamma, eps=1e-5):
    square = np.mean(x**2, axis=-1, keepdims=True)
    root = np.sqrt(square + eps)
    return x / root * gamma, (x, root, gamma)

def rmsnorm_backward(grad_y, ctx):
    x, root, gamma = ctx
    dgamma = np.sum(grad_y * (x / root), axis=tuple(range(grad_y.ndim - 1)))
    dxhat = grad_y * gamma
    droot = -np.sum(dxhat * x, axis=-1, keepdims=True) / root**2
    dsquare = droot / (2 * root)
    return dxhat / root + 2 * x * dsquare / x.shape[-1], dgamma

# %% row-by-row
"""Style: a loop over the rows, each with its own small record."""

import numpy as np

WHY = {"no-reference": "b", "not-enough": "c", "rms": "a"}

def _one(row, eps, center):
    d = row - row.mean() if center else row
    return d, np.sqrt(np.dot(d, d) / row.dtype.type(d.size) + row.dtype.type(eps))

def _forward(x, gamma, beta, eps, center):
    y, kept, divisors = np.empty_like(x), np.empty_like(x), np.empty(x.shape[:-1], x.dtype)
    for at in np.ndindex(*x.shape[:-1]):
        d, divisors[at] = _one(x[at], eps, center)
        kept[at] = d / divisors[at]
        y[at] = kept[at] * gamma + beta
    return y, (kept, divisors, gamma)

def _backward(grad_y, ctx, center):
    kept, divisors, gamma = ctx
    grad_x, grad_gamma, grad_beta = np.empty_like(kept), np.zeros_like(gamma), np.zeros_like(gamma)
    for at in np.ndindex(*divisors.shape):
        g, xhat = grad_y[at] * gamma, kept[at]
        g_out = g - xhat * (np.dot(g, xhat) / xhat.dtype.type(g.size))
        grad_x[at] = (g_out - g.mean() if center else g_out) / divisors[at]
        grad_gamma += grad_y[at] * xhat
        grad_beta += grad_y[at]
    return grad_x, grad_gamma, grad_beta

def layernorm(x, gamma, beta, eps=1e-5):
    return _forward(x, gamma, beta, eps, center=True)

def layernorm_backward(grad_y, ctx):
    return _backward(grad_y, ctx, center=True)

def rmsnorm(x, gamma, eps=1e-5):
    return _forward(x, gamma, 0 * gamma, eps, center=False)

def rmsnorm_backward(grad_y, ctx):
    return _backward(grad_y, ctx, center=False)[:2]

# %% assignment-by-transposing
# part: 1
"""As in a well-known course: batch norm of the transposed rows, and the simplified derivative."""

import numpy as np

def layernorm(x, gamma, beta, eps=1e-5):
    assert eps > 0
    flat = x.reshape(-1, x.shape[-1]).T
    sample_mean = np.mean(flat, axis=0)
    sample_var = np.var(flat, axis=0)
    std = np.sqrt(sample_var + eps)
    x_hat = ((flat - sample_mean) / std).T
    out = (gamma * x_hat + beta).reshape(x.shape)
    return out, (x_hat, gamma, std)

def layernorm_backward(dout, cache):
    x_hat, gamma, std = cache
    shape = dout.shape
    dout = dout.reshape(x_hat.shape)
    dbeta = np.sum(dout, axis=0)
    dgamma = np.sum(dout * x_hat, axis=0)
    dx_hat = dout * gamma
    D = dout.shape[1]
    dx = (
        1.0
        / D
        / std[:, None]
        * (
            D * dx_hat
            - np.sum(dx_hat, axis=1, keepdims=True)
            - x_hat * np.sum(dx_hat * x_hat, axis=1, keepdims=True)
        )
    )
    return dx.reshape(shape), dgamma, dbeta

# %% mean-and-rstd-cached
# part: 1
"""As in small C and CUDA runtimes: x, its mean and rstd are cached, the norm is recomputed."""

import numpy as np

class LayerNorm:
    @staticmethod
    def forward(x, w, b, eps):
        mean = x.sum(-1, keepdims=True) / x.shape[-1]
        xshift = x - mean
        var = (xshift**2).sum(-1, keepdims=True) / x.shape[-1]
        rstd = (var + eps) ** -0.5
        norm = xshift * rstd
        return norm * w + b, (x, w, mean, rstd)

    @staticmethod
    def backward(dout, cache):
        x, w, mean, rstd = cache
        norm = (x - mean) * rstd
        db = dout.sum(tuple(range(dout.ndim - 1)))
        dw = (dout * norm).sum(tuple(range(dout.ndim - 1)))
        dnorm = dout * w
        dx = dnorm - dnorm.mean(-1, keepdims=True) - norm * (dnorm * norm).mean(-1, keepdims=True)
        dx *= rstd
        return dx, dw, db

def layernorm(x, gamma, beta, eps=1e-5):
    return LayerNorm.forward(x, gamma, beta, eps)

def layernorm_backward(grad_y, ctx):
    return LayerNorm.backward(grad_y, ctx)
