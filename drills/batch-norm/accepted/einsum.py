"""All sums are einsums over (B, n, L); rows are sequences of one position."""

import numpy as np


def total(a, b):
    return np.einsum("bnl,bnl->n", a, b)


class BatchNorm1d:
    def __init__(self, gamma, beta, eps=1e-5, momentum=0.1):
        self.gamma, self.beta, self.eps, self.momentum = gamma, beta, eps, momentum
        self.running_mean, self.running_var = gamma * 0, gamma * 0 + 1
        self.training, self.step = True, 0

    def forward(self, x):
        shape, x = x.shape, x.reshape(len(x), len(self.gamma), -1)
        m = len(x) * x.shape[2]
        self.m = m if self.training else None
        if self.training:
            if m == 1:
                raise ValueError("one value per feature")
            self.step += 1
            a = self.momentum
            if a is None:
                a = 1 / self.step
            mean = np.einsum("bnl->n", x) / m
            d = x - mean[:, None]
            squares = total(d, d)
            self.running_mean = (1 - a) * self.running_mean + a * mean
            self.running_var = (1 - a) * self.running_var + a * squares / (m - 1)
            var = squares / m
        else:
            d = x - self.running_mean[:, None]
            var = self.running_var
        self.r = (var + self.eps) ** -0.5
        self.xhat = np.einsum("bnl,n->bnl", d, self.r)
        y = np.einsum("bnl,n->bnl", self.xhat, self.gamma) + self.beta[:, None]
        return y.reshape(shape)

    def backward(self, grad_y):
        dy = grad_y.reshape(self.xhat.shape)
        dgamma, dbeta = total(dy, self.xhat), np.einsum("bnl->n", dy)
        dx = dy.copy()
        if self.m:
            dx -= (dbeta[:, None] + self.xhat * dgamma[:, None]) / self.m
        dx = np.einsum("bnl,n,n->bnl", dx, self.gamma, self.r)
        return dx.reshape(grad_y.shape), dgamma, dbeta
