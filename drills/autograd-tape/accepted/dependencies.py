"""A Tensor depends on others; backward calls itself for each dependency, path by path."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np


class Dependency(NamedTuple):
    tensor: "Tensor"
    grad_fn: Callable[[np.ndarray], np.ndarray]


class Tensor:
    def __init__(self, data, requires_grad=False, depends_on=()):
        self.data = np.asarray(data, dtype=np.float64)
        self.requires_grad = requires_grad
        self.depends_on = list(depends_on)
        self.grad = None
        if requires_grad:
            self.zero_grad()

    def zero_grad(self):
        self.grad = np.zeros_like(self.data)

    def backward(self, grad=None):
        assert self.requires_grad, "called backward on a tensor that requires no gradient"
        if grad is None:
            if self.data.size != 1:
                raise RuntimeError("grad must be given for a tensor that is no scalar")
            grad = np.ones_like(self.data)
        self.grad = self.grad + grad
        for dependency in self.depends_on:
            dependency.tensor.backward(dependency.grad_fn(grad))

    def __add__(self, other):
        return _result(self.data + other.data, (self, lambda g: g), (other, lambda g: g))

    def __sub__(self, other):
        return self + -other

    def __neg__(self):
        return _result(-self.data, (self, lambda g: -g))

    def __mul__(self, other):
        return _result(
            self.data * other.data,
            (self, lambda g: g * other.data),
            (other, lambda g: g * self.data),
        )

    def __matmul__(self, other):
        return _result(
            self.data @ other.data,
            (self, lambda g: g @ other.data.T),
            (other, lambda g: self.data.T @ g),
        )

    def relu(self):
        return _result(np.maximum(self.data, 0), (self, lambda g: g * (self.data > 0)))

    def sum(self):
        return _result(self.data.sum(), (self, lambda g: g * np.ones_like(self.data)))


def _result(data, *pairs):
    depends_on = [Dependency(t, fn) for t, fn in pairs if t.requires_grad]
    return Tensor(data, bool(depends_on), depends_on)
