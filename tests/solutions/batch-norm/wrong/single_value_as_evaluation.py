"""A single value in training is normalized by the running statistics."""

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
        if self.training and m > 1:
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
