"""A root-mean-square norm over the last axis, for one rank: forward and backward, both right."""

import numpy as np

EPS = 1e-5


def rms_norm(x, gain):
    """Return x / sqrt(mean(x^2) + EPS) * gain; x (n, D), gain (D,)."""
    return x * _inverse(x) * gain


def rms_backward(grad, x, gain):
    """Return the gradients of x (n, D) and of gain (D,); grad (n, D) is that of the result."""
    inverse = _inverse(x)
    scaled = grad * gain
    along = (scaled * x).mean(axis=1, keepdims=True) * inverse**2
    return (scaled - x * along) * inverse, (grad * x * inverse).sum(axis=0)


def _inverse(x):
    return 1 / np.sqrt((x * x).mean(axis=1, keepdims=True) + EPS)
