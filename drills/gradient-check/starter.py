"""The gradient check of our continuous integration."""

import numpy as np


def gradient_is_right(forward, backward, x, rng):
    """Compare backward with central differences of the sum of all outputs."""
    h = 1e-5
    grad_y = np.ones_like(forward(x))
    analytic = backward(grad_y, x)
    numeric = np.zeros_like(x)
    for place in np.ndindex(*x.shape):
        up, down = x.copy(), x.copy()
        up[place] += h
        down[place] -= h
        numeric[place] = (forward(up).sum() - forward(down).sum()) / (2 * h)
    return np.allclose(analytic, numeric, rtol=1e-2, atol=1e-6)
