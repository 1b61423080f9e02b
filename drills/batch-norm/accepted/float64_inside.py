"""Everything is computed in float64 and given back in the dtype of the arrays."""

import numpy as np


class BatchNorm1d:
    def __init__(self, gamma, beta, eps=1e-5, momentum=0.1):
        self.dtype = gamma.dtype
        self.gamma, self.beta = gamma.astype("float64"), beta.astype("float64")
        self.eps, self.momentum = eps, momentum
        self.training = True
        self.running_mean = np.zeros(len(gamma), self.dtype)
        self.running_var = np.ones(len(gamma), self.dtype)
        self.k = 0

    def forward(self, x):
        self.shape = x.shape
        rows = np.swapaxes(x.astype("float64").reshape(*x.shape[:2], -1), 1, 2).reshape(-1, x.shape[1])
        self.m = len(rows)
        self.mode = "train" if self.training else "eval"
        if self.mode == "train":
            if self.m == 1:
                raise ValueError("batch norm needs more than one value")
            mean, var = rows.mean(0), rows.var(0)
            self.k += 1
            w = 1 / self.k if self.momentum is None else self.momentum
            self.running_mean = self.mix(self.running_mean, mean, w)
            self.running_var = self.mix(self.running_var, rows.var(0, ddof=1), w)
        else:
            mean, var = self.running_mean.astype("float64"), self.running_var.astype("float64")
        self.std = np.sqrt(var + self.eps)
        self.hat = (rows - mean) / self.std
        return self.back(self.hat * self.gamma + self.beta)

    def mix(self, old, new, w):
        return (w * new + (1 - w) * old.astype("float64")).astype(self.dtype)

    def back(self, rows):
        b, n = self.shape[:2]
        out = np.swapaxes(rows.reshape(b, -1, n), 1, 2).reshape(self.shape)
        return out.astype(self.dtype)

    def backward(self, grad_y):
        up = np.swapaxes(grad_y.astype("float64").reshape(*self.shape[:2], -1), 1, 2)
        up = up.reshape(-1, self.shape[1])
        dgamma, dbeta = (up * self.hat).sum(0), up.sum(0)
        down = up if self.mode == "eval" else up - (dbeta + self.hat * dgamma) / self.m
        return (
            self.back(down * self.gamma / self.std),
            dgamma.astype(self.dtype),
            dbeta.astype(self.dtype),
        )
