"""Style: x is replaced by random numbers of the same signs, and the copies are compared as bytes."""

import numpy as np


def gradient_is_right(forward, backward, x, rng):
    signs = np.where(x < 0, -1.0, 1.0)
    for _ in range(3):
        x = signs * rng.uniform(0.3, 2.5, x.shape)
        y = forward(x)
        grad_y = rng.exponential(size=y.shape) * rng.choice([-1, 1], y.shape)
        before = x.tobytes(), grad_y.tobytes()
        grad_x = backward(grad_y, x)
        if (x.tobytes(), grad_y.tobytes()) != before:
            return False
        if np.shape(grad_x) != np.shape(x) or not np.all(np.isfinite(grad_x)):
            return False
        measured = np.zeros_like(x)
        for i in range(x.size):
            old = x.flat[i]
            x.flat[i] = old + 1e-5
            high = np.vdot(forward(x), grad_y)
            x.flat[i] = old - 1e-5
            low = np.vdot(forward(x), grad_y)
            x.flat[i] = old
            measured.flat[i] = (high - low) / 2e-5
        if np.abs(measured - grad_x).max() > 1e-5 * np.abs(measured).max():
            return False
    return True
