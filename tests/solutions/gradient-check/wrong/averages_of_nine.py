"""Wrong: averages nine differences per entry, 216 calls and more."""

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
        slopes = []
        for factor in range(1, 10):
            step = (up - down) / 2 * factor
            above, below = np.sum(grad_y * forward(x + step)), np.sum(grad_y * forward(x - step))
            slopes.append((above - below) / (2 * h * factor))
        measured[place] = np.mean(slopes)
    error, largest = np.abs(grad_x - measured), np.abs(measured).max()
    return bool(np.all(error <= 1e-5 * largest))
