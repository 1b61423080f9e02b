# %% float32_careful
"""Statistics in float64, deviations first, everything else in the dtype that came."""

import numpy as np


class BatchNorm1d:
    def __init__(self, gamma, beta, eps=1e-5, momentum=0.1):
        self.gamma, self.beta, self.eps, self.momentum = gamma, beta, float(eps), momentum
        self.running_mean, self.running_var = np.zeros_like(gamma), np.ones_like(gamma)
        self.training, self.batches = True, 0

    def forward(self, x):
        self.axes = tuple({*range(x.ndim)} - {1})
        if self.training:
            many = x[:, 0].size
            if many == 1:
                raise ValueError("one value per feature")
            mean = np.mean(x, axis=self.axes, dtype=np.float64, keepdims=True)
            var = np.mean((x - mean) ** 2, axis=self.axes, keepdims=True)
            self.batches += 1
            share = 1 / self.batches if self.momentum is None else self.momentum
            for name, new in (("running_mean", mean), ("running_var", var * many / (many - 1))):
                old = getattr(self, name).astype(np.float64)
                setattr(self, name, (old + share * (new.ravel() - old)).astype(x.dtype))
        else:
            wide = [1] * x.ndim
            wide[1] = -1
            mean = self.running_mean.astype(np.float64).reshape(wide)
            var = self.running_var.astype(np.float64).reshape(wide)
        self.r = 1.0 / np.sqrt(var + self.eps)
        self.hat = ((x - mean) * self.r).astype(x.dtype)
        self.wide, self.follows = mean.shape, self.training
        y = self.hat * self.gamma.reshape(self.wide) + self.beta.reshape(self.wide)
        return y.astype(x.dtype, copy=False)

    def backward(self, grad_y):
        up = grad_y.astype(np.float64)
        g = up * self.gamma.reshape(self.wide)
        if self.follows:
            middle = g.mean(axis=self.axes, keepdims=True)
            g = g - middle - self.hat * (g * self.hat).mean(axis=self.axes, keepdims=True)
        found = (g * self.r, (up * self.hat).sum(axis=self.axes), up.sum(axis=self.axes))
        return tuple(array.astype(grad_y.dtype) for array in found)


# %% folded
"""y is x times a scale plus a shift; backward makes the normalized x again from x."""

import numpy as np


class BatchNorm1d:
    def __init__(self, gamma, beta, eps=1e-5, momentum=0.1):
        self.gamma, self.beta, self.eps, self.momentum = gamma, beta, eps, momentum
        self.running_mean, self.running_var = np.zeros_like(gamma), np.ones_like(gamma)
        self.training, self.batches = True, 0

    def forward(self, x):
        rows = x if x.ndim == 2 else x.transpose(0, 2, 1)
        over = tuple(range(rows.ndim - 1))
        if self.training:
            mean, var, m = rows.mean(over), rows.var(over), rows[..., 0].size
            if m == 1:
                raise ValueError("m == 1")
            self.batches += 1
            a = self.momentum if self.momentum is not None else 1 / self.batches
            self.running_mean = self.running_mean * (1 - a) + mean * a
            self.running_var = self.running_var * (1 - a) + var * (a * m / (m - 1))
        else:
            mean, var = self.running_mean, self.running_var
        r = 1 / np.sqrt(var + self.eps)
        scale = self.gamma * r
        self.ctx = rows, over, mean, r, self.training
        y = rows * scale + (self.beta - mean * scale)
        return y if x.ndim == 2 else np.ascontiguousarray(y.transpose(0, 2, 1))

    def backward(self, grad_y):
        rows, over, mean, r, training = self.ctx
        up = grad_y if grad_y.ndim == 2 else grad_y.transpose(0, 2, 1)
        hat = (rows - mean) * r
        dgamma, dbeta = (up * hat).sum(over), up.sum(over)
        if training:
            m = rows[..., 0].size
            down = (up - dbeta / m - hat * (dgamma / m)) * (self.gamma * r)
        else:
            down = up * (self.gamma * r)
        return (down if grad_y.ndim == 2 else down.transpose(0, 2, 1).copy()), dgamma, dbeta


# %% plain_loops
"""Loops over features, samples and positions, and nothing else."""

import math

import numpy as np


def places(array):
    """Return the index of every value of feature 0, with a hole for the feature."""
    later = [(p,) for p in range(array.shape[2])] if array.ndim == 3 else [()]
    return [((b,), rest) for b in range(array.shape[0]) for rest in later]


class BatchNorm1d:
    def __init__(self, gamma, beta, eps=1e-5, momentum=0.1):
        self.gamma, self.beta = gamma, beta
        self.eps, self.momentum = eps, momentum
        self.running_mean, self.running_var = np.zeros_like(gamma), np.ones_like(gamma)
        self.training, self.batches = True, 0

    def forward(self, x):
        where = places(x)
        count = len(where)
        if self.training and count == 1:
            raise ValueError("one value is not enough")
        self.trained, self.where = self.training, where
        if self.trained:
            self.batches += 1
        y, self.hat = np.zeros(x.shape, x.dtype), np.zeros(x.shape, x.dtype)
        self.std, means, variances = [], [], []
        for k in range(len(self.gamma)):
            column = [float(x[(*b, k, *p)]) for b, p in where]
            mean, var = float(self.running_mean[k]), float(self.running_var[k])
            if self.trained:
                share = 1 / self.batches if self.momentum is None else self.momentum
                own = sum(column) / count
                squares = sum((v - own) ** 2 for v in column)
                means.append(mean + share * (own - mean))
                variances.append(var + share * (squares / (count - 1) - var))
                mean, var = own, squares / count
            self.std.append(math.sqrt(var + self.eps))
            for (b, p), v in zip(where, column):
                hat = (v - mean) / self.std[k]
                self.hat[(*b, k, *p)] = hat
                y[(*b, k, *p)] = hat * float(self.gamma[k]) + float(self.beta[k])
        if self.trained:
            self.running_mean = np.array(means, dtype=x.dtype)
            self.running_var = np.array(variances, dtype=x.dtype)
        return y

    def backward(self, grad_y):
        grad_x = np.zeros(grad_y.shape, grad_y.dtype)
        grad_gamma, grad_beta = np.zeros_like(self.gamma), np.zeros_like(self.gamma)
        count = len(self.where)
        for k in range(len(self.gamma)):
            total = along = 0.0
            for b, p in self.where:
                total += float(grad_y[(*b, k, *p)])
                along += float(grad_y[(*b, k, *p)]) * float(self.hat[(*b, k, *p)])
            grad_gamma[k], grad_beta[k] = along, total
            for b, p in self.where:
                left = float(grad_y[(*b, k, *p)])
                if self.trained:
                    left -= (total + float(self.hat[(*b, k, *p)]) * along) / count
                grad_x[(*b, k, *p)] = left * float(self.gamma[k]) / self.std[k]
        return grad_x, grad_gamma, grad_beta


# %% repaired_starter
"""The starter, with as few lines changed as possible."""

import numpy as np


class BatchNorm1d:
    """Normalizes the features of x (B, n) or (B, n, L), one by one."""

    def __init__(self, gamma, beta, eps=1e-5, momentum=0.1):
        self.gamma, self.beta = gamma, beta
        self.eps, self.momentum = eps, momentum
        self.running_mean = np.zeros_like(gamma)
        self.running_var = np.ones_like(gamma)
        self.training = True
        self.batches = 0

    def forward(self, x):
        """Return y, shaped like x."""
        rows = self._rows(x)
        self.latest_mode = self.training
        if self.training:
            if len(rows) == 1:
                raise ValueError("batch norm cannot train on a single value per feature")
            self.batches += 1
            mean, var = rows.mean(axis=0), rows.var(axis=0)
            self.running_mean = self._fade(self.running_mean, mean)
            self.running_var = self._fade(self.running_var, rows.var(axis=0, ddof=1))
            xhat = self._normalize(rows, mean, var)
        else:
            xhat = self._normalize(rows, self.running_mean, self.running_var)
        return self._back(xhat * self.gamma + self.beta, x.shape)

    def backward(self, grad_y):
        """Return (grad_x, grad_gamma, grad_beta) of the latest forward."""
        rows = self._rows(grad_y)
        g = rows * self.gamma
        if self.latest_mode:
            g = g - g.mean(axis=0) - self.xhat * (g * self.xhat).mean(axis=0)
        grad_x = self._back(g / self.std, grad_y.shape)
        return grad_x, (rows * self.xhat).sum(axis=0), rows.sum(axis=0)

    def _rows(self, x):
        return x if x.ndim == 2 else x.transpose(0, 2, 1).reshape(-1, x.shape[1])

    def _back(self, rows, shape):
        if len(shape) == 2:
            return rows
        return rows.reshape(shape[0], shape[2], shape[1]).transpose(0, 2, 1)

    def _normalize(self, x, mean, var):
        self.std = np.sqrt(var + self.eps)
        self.xhat = (x - mean) / self.std
        return self.xhat

    def _fade(self, old, new):
        momentum = 1 / self.batches if self.momentum is None else self.momentum
        return (1 - momentum) * old + momentum * new


# %% style_a
"""Style: that of grad_y_scaled_in_place and others, repaired."""

import numpy as np


class BatchNorm1d:
    def __init__(self, gamma, beta, eps=1e-5, momentum=0.1):
        self.gamma, self.beta = gamma, beta
        self.eps, self.momentum = eps, momentum
        self.running_mean, self.running_var = np.zeros_like(gamma), np.ones_like(gamma)
        self.training, self.batches = True, 0

    def forward(self, x):
        self.axes = (0, 2) if x.ndim == 3 else (0,)
        self.shape = (-1, 1) if x.ndim == 3 else (-1,)
        m = x.size // len(self.gamma)
        if self.training:
            if m == 1:
                raise ValueError("a single value per feature")
            mean, var = x.mean(axis=self.axes), x.var(axis=self.axes)
            self.batches += 1
            share = 1 / self.batches if self.momentum is None else self.momentum
            stored = var * (m / (m - 1))
            self.running_mean = (1 - share) * self.running_mean + share * mean
            self.running_var = (1 - share) * self.running_var + share * stored
        else:
            mean, var = self.running_mean, self.running_var
        self.mode = self.training
        self.rstd = (1 / np.sqrt(var + self.eps)).reshape(self.shape)
        self.xhat = (x - mean.reshape(self.shape)) * self.rstd
        return self.xhat * self.gamma.reshape(self.shape) + self.beta.reshape(self.shape)

    def backward(self, grad_y):
        g = grad_y * self.gamma.reshape(self.shape)
        grad_x = g
        if self.mode:
            along = (g * self.xhat).mean(axis=self.axes, keepdims=True)
            grad_x = g - g.mean(axis=self.axes, keepdims=True) - self.xhat * along
        grad_gamma, grad_beta = (grad_y * self.xhat).sum(axis=self.axes), grad_y.sum(axis=self.axes)
        return grad_x * self.rstd, grad_gamma, grad_beta
