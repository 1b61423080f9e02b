"""Loops over features, samples and positions, and nothing else."""

import math

import numpy as np


def places(array):
    """Return the index of every value of feature 0, with a hole for the feature."""
    later = [(p,) for p in range(array.shape[2])] if array.ndim == 3 else [()]
    return [((b,), rest) for b in range(array.shape[0]) for rest in later]


class BatchNorm1d:
    def __init__(self, gamma, beta, eps=1e-5, momentum=0.1):
        self.gamma, self.beta = gamma, beta
        self.eps, self.momentum = eps, momentum
        self.running_mean, self.running_var = np.zeros_like(gamma), np.ones_like(gamma)
        self.training, self.batches = True, 0

    def forward(self, x):
        where = places(x)
        count = len(where)
        if self.training and count == 1:
            raise ValueError("one value is not enough")
        self.trained, self.where = self.training, where
        if self.trained:
            self.batches += 1
        y, self.hat = np.zeros(x.shape, x.dtype), np.zeros(x.shape, x.dtype)
        self.std, means, variances = [], [], []
        for k in range(len(self.gamma)):
            column = [float(x[(*b, k, *p)]) for b, p in where]
            mean, var = float(self.running_mean[k]), float(self.running_var[k])
            if self.trained:
                share = 1 / self.batches if self.momentum is None else self.momentum
                own = sum(column) / count
                squares = sum((v - own) ** 2 for v in column)
                means.append(mean + share * (own - mean))
                variances.append(var + share * (squares / (count - 1) - var))
                mean, var = own, squares / count
            self.std.append(math.sqrt(var + self.eps))
            for (b, p), v in zip(where, column):
                hat = (v - mean) / self.std[k]
                self.hat[(*b, k, *p)] = hat
                y[(*b, k, *p)] = hat * float(self.gamma[k]) + float(self.beta[k])
        if self.trained:
            self.running_mean = np.array(means, dtype=x.dtype)
            self.running_var = np.array(variances, dtype=x.dtype)
        return y

    def backward(self, grad_y):
        grad_x = np.zeros(grad_y.shape, grad_y.dtype)
        grad_gamma, grad_beta = np.zeros_like(self.gamma), np.zeros_like(self.gamma)
        count = len(self.where)
        for k in range(len(self.gamma)):
            total = along = 0.0
            for b, p in self.where:
                total += float(grad_y[(*b, k, *p)])
                along += float(grad_y[(*b, k, *p)]) * float(self.hat[(*b, k, *p)])
            grad_gamma[k], grad_beta[k] = along, total
            for b, p in self.where:
                left = float(grad_y[(*b, k, *p)])
                if self.trained:
                    left -= (total + float(self.hat[(*b, k, *p)]) * along) / count
                grad_x[(*b, k, *p)] = left * float(self.gamma[k]) / self.std[k]
        return grad_x, grad_gamma, grad_beta
