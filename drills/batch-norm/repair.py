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
        # why 3: Without a momentum all batches weigh alike, so they are counted.
        self.is_average, self.batches = momentum is None, 0

    def forward(self, x):
        """Return y (B, n)."""
        # why 3: A sequence (B, n, L) becomes rows of features, with which all below stays as it
        #        is. A single row has no variance, and is refused before anything has changed.
        if x.ndim == 3:
            rows = np.moveaxis(x, 1, 2)
            y = self.forward(rows.reshape(-1, x.shape[1]))
            return np.moveaxis(y.reshape(rows.shape), 2, 1)
        if self.training and len(x) == 1:
            raise ValueError("one value per feature has no variance to train with")
        if self.training:
            mean, var = x.mean(axis=0), x.var(axis=0)
        else:
            mean, var = self.running_mean, self.running_var
        self.std = np.sqrt(var + self.eps)
        self.xhat = (x - mean) / self.std
        # why: Evaluation uses the running statistics, and must not move them: every evaluation
        #      would change the next one.
        if self.training:
            self._follow(x)
        # why 2: Which gradient is right depends on how y was made, so the mode is kept with it.
        self.batch_statistics = self.training
        return self.xhat * self.gamma + self.beta

    def backward(self, grad_y):
        """Return (grad_x, grad_gamma, grad_beta) of the latest forward."""
        # why 3: The gradients of a sequence are made of rows as well.
        if grad_y.ndim == 3:
            rows = np.moveaxis(grad_y, 1, 2)
            grad_x, *others = self.backward(rows.reshape(-1, grad_y.shape[1]))
            return np.moveaxis(grad_x.reshape(rows.shape), 2, 1), *others
        g = grad_y * self.gamma
        along = (g * self.xhat).mean(axis=0)
        # why 2: In evaluation mean and variance are constants, and the terms through them go.
        grad_x = g / self.std
        if self.batch_statistics:
            grad_x = (g - g.mean(axis=0) - self.xhat * along) / self.std
        grad_gamma = (grad_y * self.xhat).sum(axis=0)
        return grad_x, grad_gamma, grad_y.sum(axis=0)

    def _follow(self, x):
        """Move the running statistics toward those of the batch."""
        # why 3: The k-th batch then has the share 1 / k.
        self.batches += 1
        if self.is_average:
            self.momentum = 1 / self.batches
        # why: In torch momentum is the share of the batch, and not of the old value.
        keep = 1 - self.momentum
        mean = x.mean(axis=0)
        self.running_mean = keep * self.running_mean + (1 - keep) * mean
        # why 2: torch normalizes with the variance that divides by B and stores the one that
        #        divides by B - 1.
        var = x.var(axis=0, ddof=1)
        self.running_var = keep * self.running_var + (1 - keep) * var
