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
        mean, var = x.mean(axis=0), x.var(axis=0)
        if self.training:
            xhat = self._normalize(x, mean, var)
        else:
            xhat = self._normalize(x, self.running_mean, self.running_var)
        self.running_mean = self._fade(self.running_mean, mean)
        self.running_var = self._fade(self.running_var, var)
        return xhat * self.gamma + self.beta

    def backward(self, grad_y):
        """Return (grad_x, grad_gamma, grad_beta) of the latest forward, for grad_y (B, n)."""
        grad_x = grad_y * self.gamma / self.std  # y is x times gamma / std, plus a shift
        return grad_x, (grad_y * self.xhat).sum(axis=0), grad_y.sum(axis=0)

    def _normalize(self, x, mean, var):
        self.std = np.sqrt(var + self.eps)
        self.xhat = (x - mean) / self.std
        return self.xhat

    def _fade(self, old, new):
        return self.momentum * old + (1 - self.momentum) * new
