"""Wrong: backward undoes as many blocks at once as the root of their number, and holds the streams between such runs."""

import branch
import numpy as np


def snap(v, grid):
    return v if grid is None else np.round(v / grid) * grid


def forward(x1, x2, a, b, grid=None):
    x1, x2 = snap(x1, grid), snap(x2, grid)
    for i in range(len(a)):
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
    ends, size = [(y1, y2)], int(len(a) ** 0.5)
    for i in reversed(range(len(a))):
        streams = undo(*(ends[-1] if (len(a) - 1 - i) % size == 0 else streams), a[i], b[i], grid)
        if (len(a) - i) % size == 0:
            ends.append(streams)
    runs = []
    for i in reversed(range(len(a))):
        k = len(a) - 1 - i
        if k % size == 0:
            runs, y = [], ends[k // size]
            for j in range(i, max(i - size, -1), -1):
                y = undo(*y, a[j], b[j], grid)
                runs.append(y)
        x1, x2 = runs[k % size]
        back, grad_a[i, 1], grad_b[i, 1] = pull(grad_y2, y1, a[i, 1], b[i, 1])
        grad_y1 = grad_y1 + back
        back, grad_a[i, 0], grad_b[i, 0] = pull(grad_y1, x2, a[i, 0], b[i, 0])
        grad_y2 = grad_y2 + back
        y1, y2 = x1, x2
    return grad_y1, grad_y2, grad_a, grad_b
