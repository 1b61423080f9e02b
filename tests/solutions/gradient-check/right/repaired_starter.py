"""The starter, repaired line by line."""

import numpy as np


def gradient_is_right(forward, backward, x, rng):
    """Compare backward with central differences of the sum of grad_y * y; return a bool."""
    h = 1e-5
    x = np.where(x == 0, h * 1000, x)
    grad_y = rng.normal(size=forward(x).shape)
    given = grad_y.copy(), x.copy()
    analytic = backward(*given)
    if (given[0] != grad_y).any() or (given[1] != x).any() or analytic.shape != x.shape:
        return False
    numeric = np.zeros_like(x)
    for place in np.ndindex(*x.shape):
        up, down = x.copy(), x.copy()
        up[place] += h
        down[place] -= h
        numeric[place] = ((grad_y * forward(up)).sum() - (grad_y * forward(down)).sum()) / (2 * h)
    return np.allclose(analytic, numeric, rtol=0, atol=1e-5 * np.abs(numeric).max())
