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

# The old file gave the gradient of the sum: a positive multiple, whose rows summed to 0. What it
# gave for a row did not depend on how many rows there were. A softmax's Jacobian is symmetric.
WHY = {"loss-fell": "b", "would-have-shown-it": "a", "transpose": "c"}


def log_softmax(z: np.ndarray) -> np.ndarray:
    """Return the logarithm of the softmax of each row.

    Args:
        z: (B, C), float32 or float64 logits; minus infinity is allowed wherever the row keeps a
            finite element.

    Returns:
        (B, C), dtype of z: log-probabilities in nats; minus infinity where z is.
    """
    # Softmax does not change when a constant is taken from a row. After this shift the largest
    # element is 0, so no exponential exceeds 1 and the sum lies between 1 and C.
    shifted = z - z.max(axis=-1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))


def dloss_dp(p: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return line 1, the gradient of -sum_k y_k log p_k with respect to p.

    Args:
        p: (C,), float32 or float64 probabilities; positive wherever y is.
        y: (C,), dtype of p: weights of the classes, not negative.

    Returns:
        (C,), dtype of p: -y_k / p_k, and exactly 0 where y_k is 0, even if p_k is 0 as well.
    """
    return np.divide(-y, p, out=np.zeros(p.shape, p.dtype), where=y != 0)


def softmax_jacobian(p: np.ndarray) -> np.ndarray:
    """Return line 2, the derivative of the softmax with respect to its logits.

    Args:
        p: (C,), float32 or float64: the probabilities that the softmax gave.

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
        p: (C,), float32 or float64 probabilities, any of which may be 0.
        y: (C,), dtype of p: weights of the classes, not negative.

    Returns:
        (C,), dtype of p: p_j sum_k y_k - y_j.
    """
    return y.sum() * p - y


def cross_entropy(z: np.ndarray, target: np.ndarray) -> np.floating:
    """Return the mean over the rows of -log softmax(z)[row, target], in nats.

    Args:
        z: (B, C), float32 or float64 logits, as in `log_softmax`; B is at least 1.
        target: (B,), int64: a class from 0 to C - 1.

    Returns:
        The mean, a scalar of z's dtype.
    """
    return -log_softmax(z)[np.arange(len(z)), target].mean()


def cross_entropy_grad(z: np.ndarray, target: np.ndarray) -> np.ndarray:
    """Return the gradient of `cross_entropy` with respect to z.

    Args:
        z: (B, C), as in `cross_entropy`; B may be 0.
        target: (B,), as in `cross_entropy`.

    Returns:
        (B, C), dtype of z: (softmax(z) - onehot(target)) / B.
    """
    grad = np.exp(log_softmax(z))
    grad[np.arange(len(z)), target] -= 1
    return grad / max(len(z), 1)


def softmax_vjp(p: np.ndarray, g: np.ndarray) -> np.ndarray:
    """Return line 3 for each row without its Jacobian: (diag(p) - p p^T)^T g.

    Args:
        p: (B, C), float32 or float64: the probabilities that the softmax gave.
        g: (B, C), dtype of p: the gradient with respect to p, of any loss.

    Returns:
        (B, C), dtype of p: the gradient with respect to the logits.
    """
    return p * (g - (p * g).sum(axis=-1, keepdims=True))
