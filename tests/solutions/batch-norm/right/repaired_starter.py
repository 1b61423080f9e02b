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
