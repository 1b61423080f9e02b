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
