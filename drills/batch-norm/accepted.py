# %% closures
"""A layer of closures: forward leaves the function that backward will call."""

from types import SimpleNamespace

import numpy as np

def BatchNorm1d(gamma, beta, eps=1e-5, momentum=0.1):
    layer = SimpleNamespace(training=True)
    layer.running_mean = np.zeros(gamma.shape, gamma.dtype)
    layer.running_var = np.ones(gamma.shape, gamma.dtype)
    seen = 0

    def trained(x, axes, column):
        nonlocal seen
        m = x.size // gamma.size
        if m < 2:
            raise ValueError("more than one value per feature is needed")
        seen += 1
        share = momentum if momentum is not None else 1.0 / seen
        mean, var = x.mean(axes), x.var(axes)
        layer.running_mean = layer.running_mean + share * (mean - layer.running_mean)
        layer.running_var = layer.running_var + share * (var * m / (m - 1) - layer.running_var)
        std = column(np.sqrt(var + eps))
        xhat = (x - column(mean)) / std

        def input_gradient(dy):
            d = dy * column(gamma)
            return (d - column(d.mean(axes)) - xhat * column((d * xhat).mean(axes))) / std

        return xhat, input_gradient

    def evaluated(x, axes, column):
        std = column(np.sqrt(layer.running_var + eps))
        xhat = (x - column(layer.running_mean)) / std
        return xhat, lambda dy: dy * column(gamma) / std

    def forward(x):
        axes = tuple(k for k in range(x.ndim) if k != 1)

        def column(a):
            return a.reshape(1, -1, *[1] * (x.ndim - 2))

        xhat, input_gradient = (trained if layer.training else evaluated)(x, axes, column)
        layer.backward = lambda dy: (
            input_gradient(dy),
            (dy * xhat).sum(axes),
            dy.sum(axes),
        )
        return column(gamma) * xhat + column(beta)

    layer.forward = forward
    return layer

# %% einsum
"""All sums are einsums over (B, n, L); rows are sequences of one position."""

import numpy as np

def total(a, b):
    return np.einsum("bnl,bnl->n", a, b)

class BatchNorm1d:
    def __init__(self, gamma, beta, eps=1e-5, momentum=0.1):
        self.gamma, self.beta, self.eps, self.momentum = gamma, beta, eps, momentum
        self.running_mean, self.running_var = gamma * 0, gamma * 0 + 1
        self.training, self.step = True, 0

    def forward(self, x):
        shape, x = x.shape, x.reshape(len(x), len(self.gamma), -1)
        m = len(x) * x.shape[2]
        self.m = m if self.training else None
        if self.training:
            if m == 1:
                raise ValueError("one value per feature")
            self.step += 1
            a = self.momentum
            if a is None:
                a = 1 / self.step
            mean = np.einsum("bnl->n", x) / m
            d = x - mean[:, None]
            squares = total(d, d)
            self.running_mean = (1 - a) * self.running_mean + a * mean
            self.running_var = (1 - a) * self.running_var + a * squares / (m - 1)
            var = squares / m
        else:
            d = x - self.running_mean[:, None]
            var = self.running_var
        self.r = (var + self.eps) ** -0.5
        self.xhat = np.einsum("bnl,n->bnl", d, self.r)
        y = np.einsum("bnl,n->bnl", self.xhat, self.gamma) + self.beta[:, None]
        return y.reshape(shape)

    def backward(self, grad_y):
        dy = grad_y.reshape(self.xhat.shape)
        dgamma, dbeta = total(dy, self.xhat), np.einsum("bnl->n", dy)
        dx = dy.copy()
        if self.m:
            dx -= (dbeta[:, None] + self.xhat * dgamma[:, None]) / self.m
        dx = np.einsum("bnl,n,n->bnl", dx, self.gamma, self.r)
        return dx.reshape(grad_y.shape), dgamma, dbeta

# %% feature-by-feature
"""One scalar normalizer per feature, and a loop over them."""

import numpy as np

class One:
    """Normalizes the values of one feature, in any shape."""

    def __init__(self, gamma, beta, eps):
        self.gamma, self.beta, self.eps = gamma, beta, eps

    def by_batch(self, v):
        self.fixed = False
        return self._apply(v, v.mean(), v.var())

    def by_constants(self, v, mean, var):
        self.fixed = True
        return self._apply(v, mean, var)

    def _apply(self, v, mean, var):
        self.std = np.sqrt(var + self.eps)
        self.hat = (v - mean) / self.std
        return self.hat * self.gamma + self.beta

    def back(self, up):
        g = up * self.gamma
        if not self.fixed:
            g = g - g.mean() - self.hat * (g * self.hat).mean()
        return g / self.std, (up * self.hat).sum(), up.sum()

class BatchNorm1d:
    def __init__(self, gamma, beta, eps=1e-5, momentum=0.1):
        self.ones = [One(g, b, eps) for g, b in zip(gamma, beta)]
        self.momentum, self.updates = momentum, 0
        self.running_mean = np.full_like(gamma, 0)
        self.running_var = np.full_like(gamma, 1)
        self.training = True

    def forward(self, x):
        y = np.empty(x.shape, x.dtype)
        if self.training:
            self._update(x)
        for k, one in enumerate(self.ones):
            if self.training:
                y[:, k] = one.by_batch(x[:, k])
            else:
                y[:, k] = one.by_constants(x[:, k], self.running_mean[k], self.running_var[k])
        return y

    def _update(self, x):
        if x[:, 0].size == 1:
            raise ValueError("cannot train on one value per feature")
        self.updates += 1
        share = 1 / self.updates if self.momentum is None else self.momentum
        mean, var = self.running_mean.copy(), self.running_var.copy()
        for k in range(len(mean)):
            mean[k] += share * (x[:, k].mean() - mean[k])
            var[k] += share * (x[:, k].var(ddof=1) - var[k])
        self.running_mean, self.running_var = mean, var

    def backward(self, grad_y):
        dx = np.empty(grad_y.shape, grad_y.dtype)
        dgamma, dbeta = np.empty_like(self.running_mean), np.empty_like(self.running_mean)
        for k, one in enumerate(self.ones):
            dx[:, k], dgamma[k], dbeta[k] = one.back(grad_y[:, k])
        return dx, dgamma, dbeta

# %% float64-inside
"""Everything is computed in float64 and given back in the dtype of the arrays."""

import numpy as np

class BatchNorm1d:
    def __init__(self, gamma, beta, eps=1e-5, momentum=0.1):
        self.dtype = gamma.dtype
        self.gamma, self.beta = gamma.astype("float64"), beta.astype("float64")
        self.eps, self.momentum = eps, momentum
        self.training = True
        self.running_mean = np.zeros(len(gamma), self.dtype)
        self.running_var = np.ones(len(gamma), self.dtype)
        self.k = 0

    def forward(self, x):
        self.shape = x.shape
        rows = np.swapaxes(x.astype("float64").reshape(*x.shape[:2], -1), 1, 2).reshape(-1, x.shape[1])
        self.m = len(rows)
        self.mode = "train" if self.training else "eval"
        if self.mode == "train":
            if self.m == 1:
                raise ValueError("batch norm needs more than one value")
            mean, var = rows.mean(0), rows.var(0)
            self.k += 1
            w = 1 / self.k if self.momentum is None else self.momentum
            self.running_mean = self.mix(self.running_mean, mean, w)
            self.running_var = self.mix(self.running_var, rows.var(0, ddof=1), w)
        else:
            mean, var = self.running_mean.astype("float64"), self.running_var.astype("float64")
        self.std = np.sqrt(var + self.eps)
        self.hat = (rows - mean) / self.std
        return self.back(self.hat * self.gamma + self.beta)

    def mix(self, old, new, w):
        return (w * new + (1 - w) * old.astype("float64")).astype(self.dtype)

    def back(self, rows):
        b, n = self.shape[:2]
        out = np.swapaxes(rows.reshape(b, -1, n), 1, 2).reshape(self.shape)
        return out.astype(self.dtype)

    def backward(self, grad_y):
        up = np.swapaxes(grad_y.astype("float64").reshape(*self.shape[:2], -1), 1, 2)
        up = up.reshape(-1, self.shape[1])
        dgamma, dbeta = (up * self.hat).sum(0), up.sum(0)
        down = up if self.mode == "eval" else up - (dbeta + self.hat * dgamma) / self.m
        return (
            self.back(down * self.gamma / self.std),
            dgamma.astype(self.dtype),
            dbeta.astype(self.dtype),
        )

# %% in-place-on-copies
"""Buffers of its own, updated in place; what is assigned is copied into them, as a checkpoint is."""

import numpy as np

class BatchNorm1d:
    def __init__(self, gamma, beta, eps=1e-5, momentum=0.1):
        self.weight, self.bias = gamma.copy(), beta.copy()
        self.eps, self.momentum = eps, momentum
        self._mean, self._var = np.zeros_like(self.weight), np.ones_like(self.weight)
        self.training, self.num_batches_tracked = True, 0

    @property
    def running_mean(self):
        return self._mean

    @running_mean.setter
    def running_mean(self, array):
        self._mean[:] = array

    @property
    def running_var(self):
        return self._var

    @running_var.setter
    def running_var(self, array):
        self._var[:] = array

    def forward(self, x):
        self.dims = (0, 2)[: x.ndim - 1]
        self.view = (1, -1, 1)[: x.ndim]
        mean, var = self._mean, self._var
        if self.training:
            m = x.size // self.weight.size
            if m == 1:
                raise ValueError("expected more than 1 value per channel")
            self.num_batches_tracked += 1
            factor = self.momentum
            if factor is None:
                factor = 1.0 / self.num_batches_tracked
            mean, var = x.mean(self.dims), x.var(self.dims)
            self._mean *= 1 - factor
            self._mean += factor * mean
            self._var *= 1 - factor
            self._var += factor * m / (m - 1) * var
        self.mode = self.training
        self.std = np.sqrt(var + self.eps).reshape(self.view)
        self.hat = x - mean.reshape(self.view)
        self.hat /= self.std
        y = self.hat * self.weight.reshape(self.view)
        y += self.bias.reshape(self.view)
        return y

    def backward(self, grad_y):
        dx = grad_y * self.weight.reshape(self.view)
        if self.mode:
            along = self.hat * dx
            along = self.hat * along.mean(self.dims, keepdims=True)
            dx -= dx.mean(self.dims, keepdims=True)
            dx -= along
        dx /= self.std
        return dx, (grad_y * self.hat).sum(self.dims), grad_y.sum(self.dims)

# %% jacobian-of-a-feature
"""Each feature's values are a vector, and its gradient goes through the Jacobian, written out."""

import numpy as np

def values(x):
    """(n, m) from (B, n) or (B, n, L)."""
    return np.moveaxis(x, 1, 0).reshape(x.shape[1], -1)

def back(v, shape):
    """The other way."""
    rest = shape[:1] + shape[2:]
    return np.ascontiguousarray(np.moveaxis(v.reshape(-1, *rest), 0, 1))

class BatchNorm1d:
    def __init__(self, gamma, beta, eps=1e-5, momentum=0.1):
        self.gamma, self.beta, self.eps, self.momentum = gamma, beta, eps, momentum
        self.running_mean, self.running_var = np.zeros_like(gamma), np.ones_like(gamma)
        self.history = []
        self.training = True

    def forward(self, x):
        v = values(x)
        if self.training:
            mean, var = self.observe(v)
        else:
            mean, var = self.running_mean[:, None], self.running_var[:, None]
        std = np.sqrt(var + self.eps)
        hat = (v - mean) / std
        self.latest = hat, self.jacobian(hat, std, self.training)
        return back(hat * self.gamma[:, None] + self.beta[:, None], x.shape)

    def observe(self, v):
        m = v.shape[1]
        if m == 1:
            raise ValueError("one value")
        mean, var = v.mean(1, keepdims=True), v.var(1, keepdims=True)
        new = mean[:, 0], var[:, 0] * m / (m - 1)
        if self.momentum is None:
            self.history.append(new)
            means, variances = zip(*self.history)
            self.running_mean, self.running_var = np.mean(means, 0), np.mean(variances, 0)
        else:
            k = self.momentum
            self.running_mean = self.running_mean * (1 - k) + k * new[0]
            self.running_var = self.running_var * (1 - k) + k * new[1]
        return mean, var

    @staticmethod
    def jacobian(hat, std, training):
        m = hat.shape[1]
        unit = np.eye(m, dtype=hat.dtype)
        if not training:
            return unit / std[:, :, None]
        return (unit - (1 + hat[:, :, None] * hat[:, None, :]) / m) / std[:, :, None]

    def backward(self, grad_y):
        hat, jacobian = self.latest
        up = values(grad_y)
        down = np.matmul(jacobian, (up * self.gamma[:, None])[:, :, None])[:, :, 0]
        return back(down, grad_y.shape), (up * hat).sum(1), up.sum(1)

# %% operation-by-operation
"""The backward pass goes through the forward pass one operation at a time."""

import numpy as np

class BatchNorm1d:
    def __init__(self, gamma, beta, eps=1e-5, momentum=0.1):
        self.gamma, self.beta, self.eps, self.momentum = gamma, beta, eps, momentum
        self.running_mean, self.running_var = np.zeros_like(gamma), np.ones_like(gamma)
        self.training, self.t = True, 0

    def forward(self, x):
        axes = (0,) if x.ndim == 2 else (0, 2)
        gamma, beta = (np.expand_dims(a, [k for k in axes]) for a in (self.gamma, self.beta))
        m = x.size / self.gamma.size
        if self.training:
            if m == 1:
                raise ValueError("no variance")
            mean = x.sum(axes, keepdims=True) / m
            centered = x - mean
            square = centered * centered
            var = square.sum(axes, keepdims=True) / m
            self.t += 1
            share = self.momentum if self.momentum is not None else 1 / self.t
            self.running_mean = self.running_mean - share * (self.running_mean - mean.ravel())
            stored = square.sum(axes) / (m - 1)
            self.running_var = self.running_var - share * (self.running_var - stored)
        else:
            centered = x - np.expand_dims(self.running_mean, list(axes))
            var = np.expand_dims(self.running_var, list(axes))
        root = np.sqrt(var + self.eps)
        inverse = 1 / root
        hat = centered * inverse
        self.trace = axes, m, self.training, centered, root, inverse, hat, gamma
        return hat * gamma + beta

    def backward(self, grad_y):
        axes, m, trained, centered, root, inverse, hat, gamma = self.trace
        dbeta, dgamma = grad_y.sum(axes), (grad_y * hat).sum(axes)
        dhat = grad_y * gamma
        dcentered = dhat * inverse
        if not trained:
            return dcentered, dgamma, dbeta
        dinverse = (dhat * centered).sum(axes, keepdims=True)
        droot = -dinverse / (root * root)
        dvar = 0.5 * droot / root
        dsquare = dvar / m
        dcentered = dcentered + 2 * centered * dsquare
        dmean = -dcentered.sum(axes, keepdims=True)
        return dcentered + dmean / m, dgamma, dbeta

# %% two-modes-two-classes
"""A recorded normalization of each mode knows its own derivative."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

@dataclass
class Constants:
    """Normalization by constants."""

    hat: Any
    std: Any
    axes: tuple

    def derivative(self, g):
        return g / self.std

    def parameters(self, dy):
        return np.sum(dy * self.hat, axis=self.axes), np.sum(dy, axis=self.axes)

class OfBatch(Constants):
    """Normalization by statistics of the values themselves: a projection."""

    def derivative(self, g):
        flat = g - np.mean(g, axis=self.axes, keepdims=True)
        along = np.mean(flat * self.hat, axis=self.axes, keepdims=True)
        return (flat - self.hat * along) / self.std

@dataclass
class BatchNorm1d:
    gamma: Any
    beta: Any
    eps: float = 1e-5
    momentum: Any = 0.1
    training: bool = True
    running_mean: Any = field(init=False)
    running_var: Any = field(init=False)
    record: Any = field(default=None, init=False)
    batches: int = field(default=0, init=False)

    def __post_init__(self):
        self.running_mean, self.running_var = np.zeros_like(self.gamma), np.ones_like(self.gamma)

    def _shape(self, a, x):
        return a[None, :, None] if x.ndim == 3 else a[None, :]

    def forward(self, x):
        axes = (0, 2) if x.ndim == 3 else (0,)
        kind = OfBatch if self.training else Constants
        if kind is OfBatch:
            if x.size == len(self.gamma):
                raise ValueError(f"{x.shape} has a single value per feature")
            mean, var, stored = np.mean(x, axes), np.var(x, axes), np.var(x, axes, ddof=1)
            self.batches += 1
            rate = self.momentum if self.momentum is not None else 1 / self.batches
            self.running_mean = np.add((1 - rate) * self.running_mean, rate * mean)
            self.running_var = np.add((1 - rate) * self.running_var, rate * stored)
        else:
            mean, var = self.running_mean, self.running_var
        std = np.sqrt(self._shape(var, x) + self.eps)
        self.record = kind((x - self._shape(mean, x)) / std, std, axes)
        return self.record.hat * self._shape(self.gamma, x) + self._shape(self.beta, x)

    def backward(self, grad_y):
        dx = self.record.derivative(grad_y * self._shape(self.gamma, grad_y))
        return dx, *self.record.parameters(grad_y)

# %% class-of-a-lecture
# part: 1
"""As in a well-known lecture: a small class with buffers, the unbiased variance stored or not."""

import numpy as np

class BatchNorm1d:
    def __init__(self, gamma, beta, eps=1e-5, momentum=0.1):
        self.eps = eps
        self.momentum = momentum
        self.training = True
        # parameters (trained with backprop)
        self.gamma = gamma
        self.beta = beta
        # buffers (trained with a running 'momentum update')
        self.running_mean = np.zeros(gamma.shape)
        self.running_var = np.ones(gamma.shape)

    def __call__(self, x):
        # calculate the forward pass
        if self.training:
            xmean = x.mean(0, keepdims=True)
            xvar = x.var(0, keepdims=True)
        else:
            xmean = self.running_mean
            xvar = self.running_var
        xhat = (x - xmean) / np.sqrt(xvar + self.eps)  # normalize to unit variance
        self.out = self.gamma * xhat + self.beta
        # update the buffers
        if self.training:
            self.running_mean = (1 - self.momentum) * self.running_mean + self.momentum * xmean[0]
            self.running_var = (1 - self.momentum) * self.running_var + self.momentum * xvar[0]
        return self.out

    forward = __call__

    def backward(self, grad_y):
        raise NotImplementedError

# %% mode-dictionary
# part: 1
"""As in a well-known course: a function with a mode and a dict of parameters, behind the class."""

import numpy as np

def batchnorm_forward(x, gamma, beta, bn_param):
    mode = bn_param["mode"]
    eps = bn_param.get("eps", 1e-5)
    momentum = bn_param.get("momentum", 0.9)
    N, D = x.shape
    running_mean = bn_param.get("running_mean", np.zeros(D, dtype=x.dtype))
    running_var = bn_param.get("running_var", np.zeros(D, dtype=x.dtype))

    if mode == "train":
        sample_mean = np.mean(x, axis=0)
        sample_var = np.var(x, axis=0)
        x_hat = (x - sample_mean) / np.sqrt(sample_var + eps)
        out = gamma * x_hat + beta
        running_mean = momentum * running_mean + (1 - momentum) * sample_mean
        running_var = momentum * running_var + (1 - momentum) * sample_var
    elif mode == "test":
        x_hat = (x - running_mean) / np.sqrt(running_var + eps)
        out = gamma * x_hat + beta
    else:
        raise ValueError(f'Invalid forward batchnorm mode "{mode}"')

    bn_param["running_mean"] = running_mean
    bn_param["running_var"] = running_var
    return out

class BatchNorm1d:
    def __init__(self, gamma, beta, eps=1e-5, momentum=0.1):
        assert eps > 0
        self.gamma, self.beta = gamma, beta
        self.bn_param = {"mode": "train", "eps": eps, "momentum": 1 - momentum}
        self.bn_param["running_mean"] = np.zeros(len(gamma))
        self.bn_param["running_var"] = np.ones(len(gamma))

    training = property(
        lambda self: self.bn_param["mode"] == "train",
        lambda self, on: self.bn_param.update(mode="train" if on else "test"),
    )
    running_mean = property(
        lambda self: self.bn_param["running_mean"],
        lambda self, new: self.bn_param.update(running_mean=new),
    )
    running_var = property(
        lambda self: self.bn_param["running_var"],
        lambda self, new: self.bn_param.update(running_var=new),
    )

    def forward(self, x):
        return batchnorm_forward(x, self.gamma, self.beta, self.bn_param)

    def backward(self, grad_y):
        raise NotImplementedError
