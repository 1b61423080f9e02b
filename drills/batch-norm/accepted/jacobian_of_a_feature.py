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
