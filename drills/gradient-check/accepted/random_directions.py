"""Style: inner products along random directions, no entry by itself."""

import numpy as np


def gradient_is_right(forward, backward, x, rng):
    x = x + 0.25 * (x == 0)
    y_shape = np.shape(forward(x))
    for _ in range(6):
        grad_y = rng.standard_normal(y_shape)
        mine = [grad_y.copy(), x.copy()]
        grad_x = np.array(backward(*mine))
        if not (np.array_equal(mine[0], grad_y) and np.array_equal(mine[1], x)):
            return False
        if grad_x.shape != x.shape or not np.isfinite(grad_x).all():
            return False
        for _ in range(4):
            v = rng.standard_normal(x.shape)
            h = 1e-6
            above = np.vdot(grad_y, forward(x + h * v))
            below = np.vdot(grad_y, forward(x - h * v))
            if not abs((above - below) / (2 * h) - np.vdot(grad_x, v)) <= 1e-6 * np.linalg.norm(grad_x):
                return False
    return True
