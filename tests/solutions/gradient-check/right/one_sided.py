"""Forward differences, 13 calls in all; the base value is copied."""

import numpy as np


def gradient_is_right(forward, backward, x, rng):
    x = np.where(x == 0, 0.5, x)
    base = forward(x).copy()
    g = rng.normal(size=base.shape)
    g2, x2 = g.copy(), x.copy()
    grad_x = backward(g2, x2)
    slopes = []
    for i in range(x.size):
        moved = x.copy()
        moved.flat[i] += 1e-7
        slopes.append(((forward(moved) - base) * g).sum() / 1e-7)
    slopes = np.array(slopes).reshape(x.shape)
    ok = grad_x.shape == x.shape and np.array_equal(g, g2) and np.array_equal(x, x2)
    return bool(ok and np.all(np.abs(grad_x - slopes) <= 1e-5 * np.abs(slopes).max()))
