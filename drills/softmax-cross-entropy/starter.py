"""Cross-entropy of logits, one function for each step of the derivation.

For one example the loss is L = -sum_k y_k log p_k with p = softmax(z). The first functions are the
steps on the way from L to the logits; the last two are what the training loop calls.
"""

import numpy as np


def log_softmax(z):
    """Log-probabilities over the classes: (B, C) -> (B, C)."""
    e = np.exp(z)
    return np.log(e / e.sum(axis=-1, keepdims=True))


def dloss_dp(p, y):
    """Step 1, dL/dp for one example: (C,), (C,) -> (C,). A class with y_k == 0 has none."""
    return np.divide(-y, p, out=np.zeros(p.shape, p.dtype), where=y != 0)


def softmax_jacobian(p):
    """Step 2, dp/dz for one example: (C,) -> (C, C). The derivative of p is p * (1 - p)."""
    return np.diag(p * (1 - p))


def contract(jacobian, g):
    """Step 3, the chain rule: dL/dz from dp/dz and g = dL/dp."""
    return jacobian.T @ g


def cross_entropy(z, target, ignore_index=-100):
    """Mean loss over the rows whose target is not ignore_index."""
    rows = np.flatnonzero(target != ignore_index)
    if rows.size == 0:
        return 0.0
    return float(-log_softmax(z)[rows, target[rows]].mean())


def cross_entropy_grad(z, target, ignore_index=-100):
    """Gradient of cross_entropy with respect to z: (B, C), zero on ignored rows."""
    grad = np.zeros(z.shape, z.dtype)
    rows = np.flatnonzero(target != ignore_index)
    if rows.size == 0:
        return grad
    p = np.exp(log_softmax(z))
    for row in rows:
        y = np.zeros(z.shape[1], z.dtype)
        y[target[row]] = 1
        grad[row] = contract(softmax_jacobian(p[row]), dloss_dp(p[row], y))
    return grad / rows.size
