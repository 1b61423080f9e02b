"""Style: all entries as one batch of moves, three step sizes, the best agreement counts."""

import numpy as np


def gradient_is_right(forward, backward, x, rng):
    x = np.where(x == 0, 1 / 3, x)
    grad_y = rng.normal(size=np.asarray(forward(x)).shape)
    passed_y, passed_x = np.copy(grad_y), np.copy(x)
    grad_x = backward(passed_y, passed_x)
    if not np.array_equal(passed_y, grad_y) or not np.array_equal(passed_x, x):
        return False
    if np.shape(grad_x) != x.shape or np.isnan(grad_x).any():
        return False
    basis = np.eye(x.size).reshape(-1, *x.shape)
    errors = []
    for h in (1e-4, 1e-5, 1e-6):
        up = np.array([np.tensordot(grad_y, forward(m), grad_y.ndim) for m in x + h * basis])
        down = np.array([np.tensordot(grad_y, forward(m), grad_y.ndim) for m in x - h * basis])
        measured = (up - down).reshape(x.shape) / (2 * h)
        scale = max(np.abs(measured).max(), np.abs(grad_x).max())
        errors.append(np.abs(measured - grad_x).max() / scale if scale else 0.0)
    return min(errors) < 1e-4
