"""Cross-entropy of logits: one function per line, then what training calls."""

import numpy as np


def dloss_dp(p, y):
    """Line 1, dL/dp for one example: (C,), (C,) -> (C,)."""
    return -y / p


def softmax_jacobian(p):
    """Line 2, dp/dz: (C,) -> (C, C)."""
    return np.diag(p * (1 - p))


def contract(jacobian, g):
    """Line 3, the chain rule: dL/dz from dp/dz and g = dL/dp."""
    return jacobian @ g


def dloss_dz(p, y):
    """Line 4, the three lines multiplied out: (C,), (C,) -> (C,)."""
    return p - y


def log_softmax(z):
    """Log-probabilities over the classes: (B, C) -> (B, C)."""
    e = np.exp(z)
    return np.log(e / e.sum(axis=-1, keepdims=True))


def cross_entropy(z, target):
    """Mean loss of the rows."""
    return float(-log_softmax(z)[np.arange(len(z)), target].mean())


def cross_entropy_grad(z, target):
    """Gradient of cross_entropy with respect to z: (B, C)."""
    grad = np.zeros(z.shape)
    p = np.exp(log_softmax(z))
    for row, label in enumerate(target):
        grad[row] = dloss_dz(p[row], np.eye(z.shape[1])[label])
    return grad
