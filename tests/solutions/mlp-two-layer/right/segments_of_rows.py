"""Backward goes through the batch in segments of three rows and adds up what they give."""

import numpy as np

WHY = {"bias": "c", "sizes": "a", "stacked": "d"}


def _rise(z):
    # log(1 + exp(-z)) without overflow, and back.
    return np.exp(-np.logaddexp(0, -z)).astype(z.dtype)


def forward(x, W1, b1, W2, b2, act):
    h = np.inner(x, W1) + b1
    h = np.fmax(h, 0) if act == "relu" else _rise(h)
    return np.inner(h, W2) + b2, (act, x, h, W1, W2)


def half_squared_error(y, t, keep=None):
    grad = np.zeros_like(y)
    np.copyto(grad, y - t, where=True if keep is None else keep[:, None])
    n = len(y) if keep is None else int(np.sum(keep)) or 1
    return np.linalg.norm(grad) ** 2 / 2 / n, np.true_divide(grad, n)


def backward(grad_y, cache):
    act, x, h, W1, W2 = cache
    parts = []
    for start in range(0, len(x), 3):
        rows = slice(start, start + 3)
        g, hidden = grad_y[rows], h[rows]
        d = g @ W2 * (hidden > 0 if act == "relu" else hidden * (1 - hidden))
        parts.append((d @ W1, d.T @ x[rows], d.sum(0), g.T @ hidden, g.sum(0)))
    of_x, *others = zip(*parts)
    return (np.concatenate(of_x), *(sum(part) for part in others))
