"""The task: rows to train on and rows held out, and weights to begin with."""

import numpy as np

CLASSES, INPUTS, HIDDEN = 4, 20, 64
TRAINED, HELD_OUT = 640, 1000
APART = 2.3  # of a class's center from the origin; the spread around it is 1


def rows(seed):
    """Return x, y of the rows to train on, and x, y of those held out.

    x has shape (rows, 20), float64; y holds the classes, 0 to 3, int64.
    """
    rng = np.random.default_rng([seed, 41])
    axes = np.linalg.qr(rng.standard_normal((INPUTS, CLASSES)))[0].T
    centers = APART * axes
    y = rng.permutation(np.arange(TRAINED + HELD_OUT) % CLASSES)
    x = centers[y] + rng.standard_normal((TRAINED + HELD_OUT, INPUTS))
    return x[:TRAINED], y[:TRAINED], x[TRAINED:], y[TRAINED:]


def start(rng):
    """Return the weights of a network with one hidden layer, as a dict."""
    return {
        "w1": rng.standard_normal((INPUTS, HIDDEN)) * np.sqrt(2 / INPUTS),
        "b1": np.zeros(HIDDEN),
        "w2": rng.standard_normal((HIDDEN, CLASSES)) / np.sqrt(HIDDEN),
        "b2": np.zeros(CLASSES),
    }
