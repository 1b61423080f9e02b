"""Style: Ridders' extrapolation, from a large step down, in a class."""

import numpy as np


class Check:
    def __init__(self, forward, x, grad_y):
        self.forward, self.x, self.grad_y = forward, x, grad_y

    def loss(self, place, h):
        x = self.x.copy()
        x[place] += h
        return np.sum(self.grad_y * self.forward(x))

    def derivative(self, place, h=0.1, factor=1.6, levels=7):
        table = []
        best, error = 0.0, np.inf
        for level in range(levels):
            row = [(self.loss(place, h) - self.loss(place, -h)) / (2 * h)]
            for k in range(level):
                f = factor ** (2 * (k + 1))
                row.append((row[k] * f - table[-1][k]) / (f - 1))
                now = max(abs(row[-1] - row[-2]), abs(row[-1] - table[-1][k]))
                if now <= error:
                    best, error = row[-1], now
            table.append(row)
            h /= factor
        return best


def gradient_is_right(forward, backward, x, rng):
    x = np.where(x == 0, 0.2, x)
    grad_y = rng.normal(size=forward(x).shape)
    a, b = grad_y.copy(), x.copy()
    grad_x = backward(a, b)
    if grad_x.shape != x.shape or (a != grad_y).any() or (b != x).any():
        return False
    check = Check(forward, x, grad_y)
    measured = np.array([[check.derivative((i, j)) for j in range(4)] for i in range(3)])
    return bool((abs(grad_x - measured) <= 1e-5 * abs(measured).max()).all())
