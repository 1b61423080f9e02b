"""A five-point stencil, and the error in the Euclidean norm."""

import numpy as np

STENCIL = ((-2, 1 / 12), (-1, -2 / 3), (1, 2 / 3), (2, -1 / 12))


def gradient_is_right(forward, backward, x, rng):
    x = np.where(x == 0, -0.25, x)
    g = rng.laplace(size=forward(x).shape)
    kept = x.copy(), g.copy()
    grad = np.asarray(backward(g, x))
    same = np.array_equal(kept[0], x) and np.array_equal(kept[1], g)
    x, g = kept
    if grad.shape != x.shape or not same:
        return False
    h = 1e-3
    found = np.zeros_like(x)
    for k in range(x.size):
        unit = np.zeros(x.size)
        unit[k] = h
        unit = unit.reshape(x.shape)
        found.flat[k] = sum(w * (g * forward(x + n * unit)).sum() for n, w in STENCIL) / h
    return (
        not np.linalg.norm(found) * 1e-6 < np.linalg.norm(grad - found) and not np.isnan(grad).any()
    )
