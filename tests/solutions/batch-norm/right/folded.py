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
