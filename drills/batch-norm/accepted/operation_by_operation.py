"""The backward pass goes through the forward pass one operation at a time."""

import numpy as np


class BatchNorm1d:
    def __init__(self, gamma, beta, eps=1e-5, momentum=0.1):
        self.gamma, self.beta, self.eps, self.momentum = gamma, beta, eps, momentum
        self.running_mean, self.running_var = np.zeros_like(gamma), np.ones_like(gamma)
        self.training, self.t = True, 0

    def forward(self, x):
        axes = (0,) if x.ndim == 2 else (0, 2)
        gamma, beta = (np.expand_dims(a, [k for k in axes]) for a in (self.gamma, self.beta))
        m = x.size / self.gamma.size
        if self.training:
            if m == 1:
                raise ValueError("no variance")
            mean = x.sum(axes, keepdims=True) / m
            centered = x - mean
            square = centered * centered
            var = square.sum(axes, keepdims=True) / m
            self.t += 1
            share = self.momentum if self.momentum is not None else 1 / self.t
            self.running_mean = self.running_mean - share * (self.running_mean - mean.ravel())
            stored = square.sum(axes) / (m - 1)
            self.running_var = self.running_var - share * (self.running_var - stored)
        else:
            centered = x - np.expand_dims(self.running_mean, list(axes))
            var = np.expand_dims(self.running_var, list(axes))
        root = np.sqrt(var + self.eps)
        inverse = 1 / root
        hat = centered * inverse
        self.trace = axes, m, self.training, centered, root, inverse, hat, gamma
        return hat * gamma + beta

    def backward(self, grad_y):
        axes, m, trained, centered, root, inverse, hat, gamma = self.trace
        dbeta, dgamma = grad_y.sum(axes), (grad_y * hat).sum(axes)
        dhat = grad_y * gamma
        dcentered = dhat * inverse
        if not trained:
            return dcentered, dgamma, dbeta
        dinverse = (dhat * centered).sum(axes, keepdims=True)
        droot = -dinverse / (root * root)
        dvar = 0.5 * droot / root
        dsquare = dvar / m
        dcentered = dcentered + 2 * centered * dsquare
        dmean = -dcentered.sum(axes, keepdims=True)
        return dcentered + dmean / m, dgamma, dbeta
