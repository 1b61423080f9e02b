# %% evaluation_divides_by_the_deviation
"""Wrong: in evaluation the running deviation divides, without eps."""

import numpy as np


class BatchNorm1d:
    def __init__(self, gamma, beta, eps=1e-5, momentum=0.1):
        self.gamma, self.beta, self.eps, self.momentum = gamma, beta, eps, momentum
        self.running_mean, self.running_var = np.zeros_like(gamma), np.ones_like(gamma)
        self.training = True

    def forward(self, x):
        if self.training:
            mean, var = x.mean(0), x.var(0)
            self.std = np.sqrt(var + self.eps)
            m = self.momentum
            self.running_mean = (1 - m) * self.running_mean + m * mean
            self.running_var = (1 - m) * self.running_var + m * x.var(0, ddof=1)
        else:
            mean = self.running_mean
            self.std = np.sqrt(self.running_var)
        self.xhat, self.mode = (x - mean) / self.std, self.training
        return self.gamma * self.xhat + self.beta

    def backward(self, grad_y):
        g = grad_y * self.gamma
        grads = (grad_y * self.xhat).sum(0), grad_y.sum(0)
        if not self.mode:
            return g / self.std, *grads
        return (g - g.mean(0) - self.xhat * (g * self.xhat).mean(0)) / self.std, *grads
