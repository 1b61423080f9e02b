# %% halves_go_up
"""Rounds by floor(v / grid + 1/2), in loops over pairs of weights."""

import numpy as np
import branch


def snap(v, grid):
    return v if grid is None else np.floor(v / grid + 0.5) * grid


def forward(x1, x2, a, b, grid=None):
    x1, x2 = snap(x1, grid), snap(x2, grid)
    for (af, ag), (bf, bg) in zip(a, b):
        x1 = x1 + snap(branch.run(x2, af, bf)[0], grid)
        x2 = x2 + snap(branch.run(x1, ag, bg)[0], grid)
    return x1, x2


def reconstruct(y1, y2, a, b, grid=None):
    for (af, ag), (bf, bg) in zip(a[::-1], b[::-1]):
        y2 = y2 - snap(branch.run(y1, ag, bg)[0], grid)
        y1 = y1 - snap(branch.run(y2, af, bf)[0], grid)
    return y1, y2


def backward(grad_y1, grad_y2, y1, y2, a, b, grid=None):
    ga, gb = np.empty_like(a), np.empty_like(b)
    g1, g2 = grad_y1, grad_y2
    for i in range(len(a) - 1, -1, -1):
        out, h = branch.run(y1, a[i, 1], b[i, 1])
        y2 = y2 - snap(out, grid)
        dv, ga[i, 1], gb[i, 1] = branch.back(g2, y1, h, a[i, 1], b[i, 1])
        g1 = g1 + dv
        out, h = branch.run(y2, a[i, 0], b[i, 0])
        y1 = y1 - snap(out, grid)
        dv, ga[i, 0], gb[i, 0] = branch.back(g1, y2, h, a[i, 0], b[i, 0])
        g2 = g2 + dv
    return g1, g2, ga, gb


# %% steps_as_integers
"""Counts steps as integers of 64 bits."""

import numpy as np
import branch


def snap(v, grid):
    return v if grid is None else (np.rint(v / grid).astype(np.int64) * grid).astype(v.dtype)


def forward(x1, x2, a, b, grid=None):
    x1, x2 = snap(x1, grid), snap(x2, grid)
    for (af, ag), (bf, bg) in zip(a, b):
        x1 = x1 + snap(branch.run(x2, af, bf)[0], grid)
        x2 = x2 + snap(branch.run(x1, ag, bg)[0], grid)
    return x1, x2


def reconstruct(y1, y2, a, b, grid=None):
    for (af, ag), (bf, bg) in zip(a[::-1], b[::-1]):
        y2 = y2 - snap(branch.run(y1, ag, bg)[0], grid)
        y1 = y1 - snap(branch.run(y2, af, bf)[0], grid)
    return y1, y2


def backward(grad_y1, grad_y2, y1, y2, a, b, grid=None):
    ga, gb = np.empty_like(a), np.empty_like(b)
    g1, g2 = grad_y1, grad_y2
    for i in range(len(a) - 1, -1, -1):
        out, h = branch.run(y1, a[i, 1], b[i, 1])
        y2 = y2 - snap(out, grid)
        dv, ga[i, 1], gb[i, 1] = branch.back(g2, y1, h, a[i, 1], b[i, 1])
        g1 = g1 + dv
        out, h = branch.run(y2, a[i, 0], b[i, 0])
        y1 = y1 - snap(out, grid)
        dv, ga[i, 0], gb[i, 0] = branch.back(g1, y2, h, a[i, 0], b[i, 0])
        g2 = g2 + dv
    return g1, g2, ga, gb


# %% style_a
"""Style: that of rounded_gradients and others, repaired."""

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
    for i in reversed(range(len(a))):
        x1, x2 = undo(y1, y2, a[i], b[i], grid)
        back, grad_a[i, 1], grad_b[i, 1] = pull(grad_y2, y1, a[i, 1], b[i, 1])
        grad_y1 = grad_y1 + back
        back, grad_a[i, 0], grad_b[i, 0] = pull(grad_y1, x2, a[i, 0], b[i, 0])
        grad_y2 = grad_y2 + back
        y1, y2 = x1, x2
    return grad_y1, grad_y2, grad_a, grad_b
