"""A small library of layers, each of which remembers what its own backward needs."""

import numpy as np

WHY = {"bias": "c", "sizes": "a", "stacked": "d"}


class Linear:
    def __init__(self, weight, bias):
        self.weight, self.bias = weight, bias

    def __call__(self, inputs):
        self.inputs = inputs
        return inputs @ self.weight.T + self.bias

    def pull(self, grad):
        return grad @ self.weight, grad.T @ self.inputs, grad.sum(0)


class Relu:
    def __call__(self, z):
        self.open = z > 0
        return np.where(self.open, z, 0)

    def pull(self, grad):
        return grad * self.open


class Sigmoid:
    def __call__(self, z):
        small = np.exp(-np.abs(z))  # never above 1
        self.h = np.where(z >= 0, 1, small) / (1 + small)
        return self.h

    def pull(self, grad):
        return grad * self.h * (1 - self.h)


class Network:
    def __init__(self, W1, b1, W2, b2, act):
        self.first, self.second = Linear(W1, b1), Linear(W2, b2)
        self.between = {"relu": Relu, "sigmoid": Sigmoid}[act]()

    def __call__(self, x):
        return self.second(self.between(self.first(x)))

    def pull(self, grad_y):
        grad_h, *second = self.second.pull(grad_y)
        grad_x, *first = self.first.pull(self.between.pull(grad_h))
        return (grad_x, *first, *second)


def forward(x, W1, b1, W2, b2, act):
    network = Network(W1, b1, W2, b2, act)
    return network(x), network


def half_squared_error(y, t, keep=None):
    index = np.arange(len(y)) if keep is None else np.flatnonzero(keep)
    grad = np.zeros_like(y)
    if not len(index):
        return 0.0, grad
    residual = y[index] - t[index]
    grad[index] = residual / len(index)
    return 0.5 * (residual**2).sum(axis=1).mean(), grad


def backward(grad_y, cache):
    return cache.pull(grad_y)
