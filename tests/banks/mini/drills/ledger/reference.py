"""Bytes of a model in two-byte weights, and a step of gradient descent."""


def ledger(n):
    """Return the bytes of weights and gradients."""
    return {"weights": 2 * n, "grads": 2 * n, "total": 4 * n}


def step(x, rate):
    """Return x after one step on x squared."""
    return x - rate * 2 * x
