"""One scalar normalizer per feature, and a loop over them."""

import numpy as np


class One:
    """Normalizes the values of one feature, in any shape."""

    def __init__(self, gamma, beta, eps):
        self.gamma, self.beta, self.eps = gamma, beta, eps

    def by_batch(self, v):
        self.fixed = False
        return self._apply(v, v.mean(), v.var())

    def by_constants(self, v, mean, var):
        self.fixed = True
        return self._apply(v, mean, var)

    def _apply(self, v, mean, var):
        self.std = np.sqrt(var + self.eps)
        self.hat = (v - mean) / self.std
        return self.hat * self.gamma + self.beta

    def back(self, up):
        g = up * self.gamma
        if not self.fixed:
            g = g - g.mean() - self.hat * (g * self.hat).mean()
        return g / self.std, (up * self.hat).sum(), up.sum()


class BatchNorm1d:
    def __init__(self, gamma, beta, eps=1e-5, momentum=0.1):
        self.ones = [One(g, b, eps) for g, b in zip(gamma, beta)]
        self.momentum, self.updates = momentum, 0
        self.running_mean = np.full_like(gamma, 0)
        self.running_var = np.full_like(gamma, 1)
        self.training = True

    def forward(self, x):
        y = np.empty(x.shape, x.dtype)
        if self.training:
            self._update(x)
        for k, one in enumerate(self.ones):
            if self.training:
                y[:, k] = one.by_batch(x[:, k])
            else:
                y[:, k] = one.by_constants(x[:, k], self.running_mean[k], self.running_var[k])
        return y

    def _update(self, x):
        if x[:, 0].size == 1:
            raise ValueError("cannot train on one value per feature")
        self.updates += 1
        share = 1 / self.updates if self.momentum is None else self.momentum
        mean, var = self.running_mean.copy(), self.running_var.copy()
        for k in range(len(mean)):
            mean[k] += share * (x[:, k].mean() - mean[k])
            var[k] += share * (x[:, k].var(ddof=1) - var[k])
        self.running_mean, self.running_var = mean, var

    def backward(self, grad_y):
        dx = np.empty(grad_y.shape, grad_y.dtype)
        dgamma, dbeta = np.empty_like(self.running_mean), np.empty_like(self.running_mean)
        for k, one in enumerate(self.ones):
            dx[:, k], dgamma[k], dbeta[k] = one.back(grad_y[:, k])
        return dx, dgamma, dbeta
