"""Weighted deviations from the mean of a row."""

import numpy as np


def _centred(x):
    return x - x.mean(axis=-1, keepdims=True)


def centre(x, w):
    """Return the weighted deviations and what backward needs."""
    d = _centred(x)
    return w * d, (d, np.array(w))


def centre_backward(grad_y, ctx):
    """Return the gradients with respect to x and w."""
    d, w = ctx
    return _centred(w * grad_y), grad_y * d


def spread(x):
    """Return the mean squared deviation."""
    return float((_centred(x) ** 2).mean())
