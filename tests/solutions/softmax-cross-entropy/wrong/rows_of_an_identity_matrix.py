"""The one-hot targets are rows of an identity matrix of C by C."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np


@dataclass(frozen=True)
class Counted:
    z: np.ndarray
    rows: np.ndarray
    labels: np.ndarray

    @classmethod
    def of(cls, z: np.ndarray, target: np.ndarray, ignore_index: int) -> Counted:
        rows = np.array([i for i, t in enumerate(target) if t != ignore_index], dtype=np.intp)
        return cls(z, rows, target[rows].astype(np.intp))

    @cached_property
    def log_probabilities(self) -> np.ndarray:
        return log_softmax(self.z[self.rows])

    def loss(self) -> float:
        if not len(self.rows):
            return 0.0
        return float(-self.log_probabilities[np.arange(len(self.rows)), self.labels].mean())

    def gradient(self) -> np.ndarray:
        grad = np.zeros(self.z.shape, self.z.dtype)
        if len(self.rows):
            one_hot = np.eye(self.z.shape[1], dtype=self.z.dtype)[self.labels]
            grad[self.rows] = (np.exp(self.log_probabilities) - one_hot) / len(self.rows)
        return grad


def log_softmax(z):
    shifted = z - z.max(axis=-1, keepdims=True)
    return shifted - np.log1p(np.exp(shifted).sum(axis=-1, keepdims=True) - 1)


def dloss_dp(p, y):
    return np.nan_to_num(-y / np.where(y > 0, p, 1))


def softmax_jacobian(p):
    return np.diag(p) - np.kron(p, p).reshape(len(p), len(p))


def contract(jacobian, g):
    return np.matmul(jacobian.T, g)


def cross_entropy(z, target, ignore_index=-100):
    return Counted.of(z, target, ignore_index).loss()


def cross_entropy_grad(z, target, ignore_index=-100):
    return Counted.of(z, target, ignore_index).gradient()


def dloss_dz(p, y):
    return y.sum() * p - y


def softmax_vjp(p, g):
    return p * (g - (p * g).sum(axis=-1, keepdims=True))


WHY = {"loss-fell": "b", "would-have-shown-it": "a", "transpose": "c"}
