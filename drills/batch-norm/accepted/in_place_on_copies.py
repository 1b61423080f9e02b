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
