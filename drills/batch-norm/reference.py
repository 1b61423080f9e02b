"""Batch normalization with the two modes of torch.nn.BatchNorm1d, forward and backward.

In training the statistics are functions of the batch, and the gradient follows them; in evaluation
they are constants.
"""

import numpy as np


def _axes(x):
    """Return the axes that the values of one feature lie along, in (B, n) or (B, n, L)."""
    return (0,) if x.ndim == 2 else (0, 2)


def _wide(a, x):
    """Return a (n,) in a form that meets the features of x."""
    return a if x.ndim == 2 else a[:, None]


def _initial(gamma):
    return np.zeros_like(gamma), np.ones_like(gamma)


def _batch_statistics(x):
    """Return the mean and the biased variance of each feature."""
    return x.mean(axis=_axes(x)), x.var(axis=_axes(x))


def _count(x):
    """Return how many values each feature has."""
    return x.size // x.shape[1]


def _stored_variance(x, var):
    return var * (_count(x) / (_count(x) - 1))


def _share(momentum, batches):
    """Return the weight of the newest batch in the running statistics."""
    return 1 / batches if momentum is None else momentum


def _fade(old, new, share):
    return (1 - share) * old + share * new


def _reciprocal(var, eps):
    return 1 / np.sqrt(var + eps)


def _gradient_in_training(g, xhat, rstd):
    """Return grad_x for g = grad_y * gamma where mean and variance are those of the batch."""
    mean = g.mean(axis=_axes(g))
    along = (g * xhat).mean(axis=_axes(g))
    return _wide(rstd, g) * (g - _wide(mean, g) - xhat * _wide(along, g))


def _gradient_in_evaluation(g, _xhat, rstd):
    """Return grad_x where mean and variance are constants."""
    return _wide(rstd, g) * g


def _parameter_gradients(grad_y, xhat):
    return (grad_y * xhat).sum(axis=_axes(grad_y)), grad_y.sum(axis=_axes(grad_y))


class BatchNorm1d:
    """Normalizes each feature of x (B, n) or (B, n, L); gamma and beta are (n,)."""

    def __init__(self, gamma, beta, eps=1e-5, momentum=0.1):
        """Begin in training mode; a momentum of None weighs all batches alike."""
        self.gamma, self.beta = gamma, beta
        self.eps, self.momentum = eps, momentum
        self.running_mean, self.running_var = _initial(gamma)
        self.batches = 0
        self.training = True

    def forward(self, x):
        """Return y, shaped like x; in training the running statistics follow."""
        mean, var = self._learn(x) if self.training else self._recall(x)
        rstd = _reciprocal(var, self.eps)
        xhat = (x - _wide(mean, x)) * _wide(rstd, x)
        self.kept = xhat, rstd, self.training
        return xhat * _wide(self.gamma, x) + _wide(self.beta, x)

    def backward(self, grad_y):
        """Return (grad_x, grad_gamma, grad_beta) of the latest forward, in its mode."""
        xhat, rstd, training = self.kept
        gradient = _gradient_in_training if training else _gradient_in_evaluation
        grad_x = gradient(grad_y * _wide(self.gamma, grad_y), xhat, rstd)
        return grad_x, *_parameter_gradients(grad_y, xhat)

    def _learn(self, x):
        """Return the statistics of a batch, and let the running ones follow."""
        if _count(x) == 1:
            raise ValueError("a single value per feature has no variance to train with")
        mean, var = _batch_statistics(x)
        self._follow(mean, _stored_variance(x, var))
        return mean, var

    def _follow(self, mean, var):
        self.batches += 1
        share = _share(self.momentum, self.batches)
        self.running_mean = _fade(self.running_mean, mean, share)
        self.running_var = _fade(self.running_var, var, share)

    def _recall(self, _x):
        """Return the running statistics."""
        return self.running_mean, self.running_var
