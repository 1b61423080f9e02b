"""Batch normalization of our training code, forward and backward."""

import numpy as np


class BatchNorm1d:
    """Normalizes the features of x (B, n), one by one."""

    def __init__(self, gamma, beta, eps=1e-5, momentum=0.1):
        self.gamma, self.beta = gamma, beta
        self.eps, self.momentum = eps, momentum
        self.running_mean = np.zeros_like(gamma)
        self.running_var = np.ones_like(gamma)
        self.training = True

    def forward(self, x):
        """Return y (B, n)."""
        if self.training:
            mean, var = x.mean(axis=0), x.var(axis=0)
        else:
            mean, var = self.running_mean, self.running_var
        self.std = np.sqrt(var + self.eps)
        self.xhat = (x - mean) / self.std
        self._follow(x)
        return self.xhat * self.gamma + self.beta

    def backward(self, grad_y):
        """Return (grad_x, grad_gamma, grad_beta) of the latest forward."""
        g = grad_y * self.gamma
        along = (g * self.xhat).mean(axis=0)
        grad_x = (g - g.mean(axis=0) - self.xhat * along) / self.std
        grad_gamma = (grad_y * self.xhat).sum(axis=0)
        return grad_x, grad_gamma, grad_y.sum(axis=0)

    def _follow(self, x):
        """Move the running statistics toward those of the batch."""
        keep = self.momentum
        mean = x.mean(axis=0)
        self.running_mean = keep * self.running_mean + (1 - keep) * mean
        var = x.var(axis=0)
        self.running_var = keep * self.running_var + (1 - keep) * var
