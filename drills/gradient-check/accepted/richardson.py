"""Style: Richardson extrapolation from two central differences with large steps."""

import numpy as np


def gradient_is_right(forward, backward, x, rng):
    x = np.where(x == 0.0, -0.3, x)
    g = rng.uniform(-1, 1, np.shape(forward(x)))

    def loss(place, h):
        moved = np.array(x)
        moved[place] += h
        return float((g * forward(moved)).sum())

    def central(place, h):
        return (loss(place, h) - loss(place, -h)) / (2 * h)

    x_given, g_given = x.copy(), g.copy()
    claimed = backward(g_given, x_given)
    if (x_given != x).any() or (g_given != g).any() or claimed.shape != x.shape:
        return False
    found = np.zeros(x.shape)
    for place in np.ndindex(*x.shape):
        found[place] = (4 * central(place, 5e-4) - central(place, 1e-3)) / 3
    return bool(np.all(np.abs(claimed - found) <= 1e-6 * np.max(np.abs(found))))
