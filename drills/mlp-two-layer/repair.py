"""A network of two layers by hand: x -> z -> h -> y, half the squared error."""

import numpy as np

# why 2: Every row adds the bias; (B, o) times (m, o) fits where o is m; with every row twice sums double
#        and 1 / B halves.
WHY = {"bias": "c", "sizes": "a", "stacked": "d"}


def sigmoid(z):
    return 1 / (1 + np.exp(-z))


def forward(x, W1, b1, W2, b2, act):
    """Return y (B, o) and what backward needs; act is "relu" or "sigmoid"."""
    z = x @ W1.T + b1
    h = np.maximum(z, 0) if act == "relu" else sigmoid(z)
    y = h @ W2.T + b2
    # why 3: Both slopes follow from h, so z need not be kept.
    return y, (x, W1, W2, h, act)


# why 2: The network does not know of it: only the loss does.
def half_squared_error(y, t, keep=None):
    """Return the mean loss of the rows and its gradient, (B, o)."""
    # why 2: Chosen with where, because 0 times NaN is NaN; and divided by the rows that count, by 1
    #        where there is none.
    keep = np.ones(len(y), bool) if keep is None else keep
    residual = np.where(keep[:, None], y - t, 0)
    rows = max(int(keep.sum()), 1)
    loss = 0.5 * float((residual**2).sum()) / rows
    return loss, residual / rows


def backward(grad_y, cache):
    """Return the gradients of x, W1, b1, W2 and b2."""
    # why 3: Without z.
    x, W1, W2, h, act = cache
    grad_W2 = grad_y.T @ h
    # why: A bias is added to every row, so the rows add up; the 1 / B of the mean is in grad_y.
    grad_b2 = grad_y.sum(axis=0)
    grad_h = grad_y @ W2
    if act == "relu":
        # why 3: An array of 1.0 and 0.0 is float64, and makes float64 of what it meets.
        slope = h > 0
    else:
        # why: s (1 - s) wants the value of the sigmoid, and h is that already.
        slope = h * (1 - h)
    grad_z = grad_h * slope
    grad_W1 = grad_z.T @ x
    # why: As for b2.
    grad_b1 = grad_z.sum(axis=0)
    grad_x = grad_z @ W1
    return grad_x, grad_W1, grad_b1, grad_W2, grad_b2
