"""Wrong: forward keeps the streams of every block in a list until it ends."""

import branch
import numpy as np


def snap(v, grid):
    return v if grid is None else np.round(v / grid) * grid


def forward(x1, x2, a, b, grid=None):
    x1, x2 = snap(x1, grid), snap(x2, grid)
    kept = []
    for i in range(len(a)):
        kept.append((x1, x2))
        x1 = x1 + snap(branch.run(x2, a[i, 0], b[i, 0])[0], grid)
        x2 = x2 + snap(branch.run(x1, a[i, 1], b[i, 1])[0], grid)
    return x1, x2


def undo(y1, y2, a, b, grid):
    x2 = y2 - snap(branch.run(y1, a[1], b[1])[0], grid)
    x1 = y1 - snap(branch.run(x2, a[0], b[0])[0], grid)
    return x1, x2


def reconstruct(y1, y2, a, b, grid=None):
    for i in reversed(range(len(a))):
        y1, y2 = undo(y1, y2, a[i], b[i], grid)
    return y1, y2


def pull(grad, v, a, b):
    return branch.back(grad, v, branch.run(v, a, b)[1], a, b)


def backward(grad_y1, grad_y2, y1, y2, a, b, grid=None):
    grad_a, grad_b = np.zeros_like(a), np.zeros_like(b)
    for i in reversed(range(len(a))):
        x1, x2 = undo(y1, y2, a[i], b[i], grid)
        back, grad_a[i, 1], grad_b[i, 1] = pull(grad_y2, y1, a[i, 1], b[i, 1])
        grad_y1 = grad_y1 + back
        back, grad_a[i, 0], grad_b[i, 0] = pull(grad_y1, x2, a[i, 0], b[i, 0])
        grad_y2 = grad_y2 + back
        y1, y2 = x1, x2
    return grad_y1, grad_y2, grad_a, grad_b
