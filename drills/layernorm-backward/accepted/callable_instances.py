"""Style: instances with __call__ for the functions, and a class for what is kept."""

from dataclasses import dataclass

import numpy as np

WHY = {"no-reference": "b", "not-enough": "c", "rms": "a"}


@dataclass
class Kept:
    deviations: np.ndarray
    inverse: np.ndarray
    gamma: np.ndarray

    @property
    def normalized(self):
        return self.deviations * self.inverse


class Forward:
    def __init__(self, subtract):
        self.subtract = subtract

    def kept(self, x, gamma, eps):
        d = x - self.subtract(x)
        return Kept(d, np.reciprocal(np.sqrt((d**2).mean(-1)[..., None] + eps)), gamma)


class LayerNorm(Forward):
    def __call__(self, x, gamma, beta, eps=1e-5):
        kept = self.kept(x, gamma, eps)
        return kept.normalized * gamma + beta, kept


class RMSNorm(Forward):
    def __call__(self, x, gamma, eps=1e-5):
        kept = self.kept(x, gamma, eps)
        return kept.normalized * gamma, kept


class Backward:
    def __init__(self, subtract, names):
        self.subtract = subtract
        self.names = names

    def __call__(self, grad_y, kept):
        return tuple(getattr(self, name)(grad_y, kept) for name in self.names)

    def x(self, grad_y, kept):
        g = grad_y * kept.gamma
        along = kept.normalized * (g * kept.normalized).mean(-1)[..., None]
        return (g - along - self.subtract(g)) * kept.inverse

    def gamma(self, grad_y, kept):
        return np.tensordot(np.ones(grad_y.shape[:-1], grad_y.dtype), grad_y * kept.normalized, grad_y.ndim - 1)

    def beta(self, grad_y, kept):
        return np.tensordot(np.ones(grad_y.shape[:-1], grad_y.dtype), grad_y, grad_y.ndim - 1)


def _mean(values):
    return values.mean(-1)[..., None]


def _nothing(values):
    return values.dtype.type(0)


layernorm = LayerNorm(_mean)
layernorm_backward = Backward(_mean, ("x", "gamma", "beta"))
rmsnorm = RMSNorm(_nothing)
rmsnorm_backward = Backward(_nothing, ("x", "gamma"))
