"""Two layers and half the squared error, with the backward pass by hand.

For B rows, with z = x W1^T + b1, h = act(z) and y = h W2^T + b2, the chain rule gives, with
g = grad_y:

    grad_W2 = g^T h        grad_b2 = sum of g over the rows       grad_h = g W2
    grad_z  = grad_h * act'(z)
    grad_W1 = grad_z^T x   grad_b1 = sum of grad_z over the rows  grad_x = grad_z W1

A product with a transposed matrix on the left adds up one outer product for each row. A bias is
added to every row, so its gradient adds up what comes back from each. Nothing here knows that the
loss is a mean: the 1 / B is in g.

Both slopes are functions of h: 1 where h is positive for a ReLU, and h (1 - h) for a sigmoid. So z
need not be kept.

Source: D. E. Rumelhart, G. E. Hinton and R. J. Williams, "Learning representations by
back-propagating errors", Nature 323, 1986, pages 533-536.
"""

from typing import Any

import numpy as np

# The bias is used by every row; grad_y W2^T is defined for (B, o) times (m, o) where o is m; with
# every row twice, sums over rows double and 1 / B halves.
WHY = {"bias": "c", "sizes": "a", "stacked": "d"}


def forward(
    x: np.ndarray, W1: np.ndarray, b1: np.ndarray, W2: np.ndarray, b2: np.ndarray, act: str
) -> tuple[np.ndarray, Any]:
    """Return act(x W1^T + b1) W2^T + b2.

    Args:
        x: (B, d), float32 or float64, any strides; never modified.
        W1: (m, d), of x's dtype; never modified.
        b1: (m,), likewise.
        W2: (o, m), likewise.
        b2: (o,), likewise.
        act: "relu" or "sigmoid".

    Returns:
        y: (B, o), of x's dtype.
        cache: for `backward`; refers to x, W1 and W2, and keeps h, (B, m).
    """
    h = _activation(_linear(x, W1, b1), act)
    return _linear(h, W2, b2), (x, W1, W2, h, act)


def half_squared_error(
    y: np.ndarray, t: np.ndarray, keep: np.ndarray | None = None
) -> tuple[float, np.ndarray]:
    """Return the mean over the kept rows of half the squared length of y - t, and its gradient.

    Args:
        y: (B, o), float32 or float64; never modified.
        t: (B, o), of y's dtype; may be NaN or infinite in rows that are not kept.
        keep: (B,) bool, the rows that count; all of them if None.

    Returns:
        loss: a number; 0 if no row is kept.
        grad_y: (B, o), of y's dtype; 0 in rows that are not kept.
    """
    rows = np.ones(len(y), dtype=bool) if keep is None else keep
    residual = _residual(y, t, rows)
    count = _count(rows)
    return _half_of_squares(residual) / count, residual / count


def backward(
    grad_y: np.ndarray, cache: Any
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return the gradients of the sum of grad_y * y.

    Args:
        grad_y: (B, o), of x's dtype, any strides; never modified.
        cache: what `forward` returned; it can be used again.

    Returns:
        grad_x, grad_W1, grad_b1, grad_W2, grad_b2: in the shapes and the dtype of what they are
        the gradients of.
    """
    x, W1, W2, h, act = cache
    grad_z = _through_activation(_to_input(grad_y, W2), h, act)
    return (
        _to_input(grad_z, W1),
        _grad_weights(grad_z, x),
        _grad_bias(grad_z),
        _grad_weights(grad_y, h),
        _grad_bias(grad_y),
    )


def _linear(a: np.ndarray, weights: np.ndarray, bias: np.ndarray) -> np.ndarray:
    return a @ weights.T + bias


def _activation(z: np.ndarray, act: str) -> np.ndarray:
    if act == "relu":
        return np.maximum(z, 0)
    with np.errstate(over="ignore"):  # exp may be infinite, and 1 / infinity is 0, as it should be
        return 1 / (1 + np.exp(-z))


def _slope(h: np.ndarray, act: str) -> np.ndarray:
    """Return act'(z), (B, m), from h = act(z)."""
    return h > 0 if act == "relu" else h * (1 - h)


def _through_activation(grad_h: np.ndarray, h: np.ndarray, act: str) -> np.ndarray:
    return grad_h * _slope(h, act)


def _to_input(grad: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return the gradient of what entered a layer, from that of what left it."""
    return grad @ weights


def _grad_weights(grad: np.ndarray, entered: np.ndarray) -> np.ndarray:
    """Return the sum over the rows of the outer products of gradient and input."""
    return grad.T @ entered


def _grad_bias(grad: np.ndarray) -> np.ndarray:
    return grad.sum(axis=0)


def _residual(y: np.ndarray, t: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Return y - t, 0 in the other rows: 0 times NaN would be NaN."""
    return np.where(rows[:, None], y - t, 0)


def _count(rows: np.ndarray) -> int:
    """Return how many rows count: a Python int, which leaves float32 alone; 1 in place of 0."""
    return max(int(rows.sum()), 1)


def _half_of_squares(residual: np.ndarray) -> float:
    return float((residual * residual).sum()) / 2
