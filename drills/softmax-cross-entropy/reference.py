"""Cross-entropy of logits: one function for each line of the derivation, then what training calls.

For one example with probabilities p = softmax(z) and weights y the loss is L = -sum_k y_k log p_k,
in nats. Three lines lead from there to the logits, and the fourth multiplies them out:

    dL/dp_k   = -y_k / p_k
    dp_i/dz_j = p_i (delta_ij - p_j)
    dL/dz_j   = sum_i dL/dp_i dp_i/dz_j = p_j sum_k y_k - y_j

For weights that sum to 1 the last line is p - y. The factor p_i of the second line cancels the
divisor of the first, so the fourth divides by no probability and stays right when one rounds to 0.

Source: the shift by the row maximum, and its rounding error, are analysed in P. Blanchard,
D. J. Higham and N. J. Higham, "Accurately computing the log-sum-exp and softmax functions", IMA
Journal of Numerical Analysis 41(4), 2021, doi:10.1093/imanum/draa038.
"""

import numpy as np

# The old file's gradient had, in every row, an inner product of (1 - p_t)^2 with the right one; its
# entries did not sum to 0; and the Jacobian of a softmax is symmetric.
WHY = {"loss-fell": "b", "would-have-shown-it": "a", "transpose": "c"}


def log_softmax(z: np.ndarray) -> np.ndarray:
    """Return the logarithm of the softmax of each row.

    Args:
        z: (B, C), float32 or float64 logits, any strides; minus infinity is allowed wherever the
            row keeps a finite entry; never modified.

    Returns:
        (B, C), dtype of z: log-probabilities in nats; minus infinity where z is.
    """
    # Softmax does not change when a constant is taken from a row. After this shift the largest
    # entry is 0, so no exponential exceeds 1 and the sum lies between 1 and C.
    shifted = z - z.max(axis=-1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))


def dloss_dp(p: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return line 1, the gradient of -sum_k y_k log p_k with respect to p.

    Args:
        p: (C,), float32 or float64 probabilities; positive wherever y is; never modified.
        y: (C,), dtype of p: weights of the classes, not negative; never modified.

    Returns:
        (C,), dtype of p: -y_k / p_k, and exactly 0 where y_k is 0, even if p_k is 0 as well.
    """
    return np.divide(-y, p, out=np.zeros(p.shape, p.dtype), where=y != 0)


def softmax_jacobian(p: np.ndarray) -> np.ndarray:
    """Return line 2, the derivative of the softmax with respect to its logits.

    Args:
        p: (C,), float32 or float64: the probabilities that the softmax gave; never modified.

    Returns:
        (C, C), dtype of p: entry [i, j] is dp_i/dz_j = p_i (delta_ij - p_j).
    """
    return np.diag(p) - np.outer(p, p)


def contract(jacobian: np.ndarray, g: np.ndarray) -> np.ndarray:
    """Return line 3, the gradient g carried back through a Jacobian.

    Args:
        jacobian: (C, C), any square matrix, float32 or float64; entry [i, j] is dp_i/dz_j.
        g: (C,), dtype of jacobian: dL/dp.

    Returns:
        (C,), dtype of jacobian: dL/dz_j = sum_i jacobian[i, j] g_i.
    """
    return jacobian.T @ g


def dloss_dz(p: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return line 4, the gradient of -sum_k y_k log softmax(z)_k with respect to z.

    Args:
        p: (C,), float32 or float64 probabilities, any of which may be 0; never modified.
        y: (C,), dtype of p: weights of the classes, not negative; never modified.

    Returns:
        (C,), dtype of p: p_j sum_k y_k - y_j.
    """
    return y.sum() * p - y


def cross_entropy(
    z: np.ndarray, target: np.ndarray, ignore_index: int = -100
) -> float | np.floating:
    """Return the mean over the counted rows of -log softmax(z)[row, target], in nats.

    Args:
        z: (B, C), float32 or float64 logits, as in `log_softmax`; B may be 0.
        target: (B,), any integer dtype: a class from 0 to C - 1, or ignore_index.
        ignore_index: rows with this target are not counted; it may be a legal class.

    Returns:
        The mean, a scalar of z's dtype; 0.0 when no row is counted.
    """
    rows = _counted_rows(target, ignore_index)
    if rows.size == 0:
        return 0.0
    return -log_softmax(z)[rows, target[rows]].mean()


def cross_entropy_grad(z: np.ndarray, target: np.ndarray, ignore_index: int = -100) -> np.ndarray:
    """Return the gradient of `cross_entropy` with respect to z.

    Args:
        z: (B, C), as in `cross_entropy`.
        target: (B,), as in `cross_entropy`.
        ignore_index: as in `cross_entropy`.

    Returns:
        (B, C), dtype of z: (softmax(z) - onehot(target)) / n on the n counted rows, exactly 0 on
        the others.
    """
    rows = _counted_rows(target, ignore_index)
    grad = np.zeros(z.shape, z.dtype)
    if rows.size == 0:
        return grad
    p = np.exp(log_softmax(z))
    p[rows, target[rows]] -= 1
    grad[rows] = p[rows] / rows.size
    return grad


def softmax_vjp(p: np.ndarray, g: np.ndarray) -> np.ndarray:
    """Return line 3 for each row without its Jacobian: (diag(p) - p p^T)^T g.

    Args:
        p: (B, C), float32 or float64: the probabilities that the softmax gave; never modified.
        g: (B, C), dtype of p: the gradient with respect to p, of any loss; never modified.

    Returns:
        (B, C), dtype of p: the gradient with respect to the logits.
    """
    return p * (g - (p * g).sum(axis=-1, keepdims=True))


def _counted_rows(target: np.ndarray, ignore_index: int) -> np.ndarray:
    """Return the indices of the rows that count."""
    # Rows are chosen before any target is used as an index: numpy would read -100 as the hundredth
    # class from the end wherever there are that many.
    return np.flatnonzero(target != ignore_index)
