"""Wrong: judges the mean error, and allows two thousandths of it."""

import numpy as np


def gradient_is_right(forward, backward, x, rng):
    x = np.where(x == 0, 0.25, x)
    grad_y = rng.normal(size=forward(x).shape)
    own_y, own_x = grad_y.copy(), x.copy()
    grad_x = backward(own_y, own_x)
    if not (np.array_equal(own_y, grad_y) and np.array_equal(own_x, x)):
        return False
    if np.shape(grad_x) != x.shape:
        return False
    h = 1e-5
    measured = np.zeros_like(x)
    for place in np.ndindex(x.shape):
        up, down = x.copy(), x.copy()
        up[place] += h
        down[place] -= h
        above, below = np.sum(grad_y * forward(up)), np.sum(grad_y * forward(down))
        measured[place] = (above - below) / (2 * h)
    error, largest = np.abs(grad_x - measured), np.abs(measured).max()
    return bool(error.mean() <= 2e-3 * largest)
