"""LayerNorm and RMSNorm over the last axis, forward and backward.

With d = x - mean for LayerNorm and d = x for RMSNorm, and D entries in a row:

    r = 1 / sqrt(mean(d**2) + eps),   xhat = d * r,   y = xhat * gamma (+ beta)

Both r and the mean depend on x. With g = grad_y * gamma, which is dL/dxhat, the chain rule gives

    LayerNorm   grad_x = r * (g - mean(g) - xhat * mean(g * xhat))
    RMSNorm     grad_x = r * (g - xhat * mean(g * xhat))
    both        grad_gamma = sum over all rows of grad_y * xhat

The second term comes through the mean, the third through the root. Values have no unit.

Source: Ba, Kiros, Hinton, "Layer Normalization", arXiv:1607.06450; Zhang, Sennrich, "Root Mean
Square Layer Normalization", arXiv:1910.07467. The gradients are those formulas differentiated.
"""

import numpy as np

WHY = {"no-reference": "b", "not-enough": "c", "rms": "a"}


def layernorm(x, gamma, beta, eps=1e-5):
    """Return the rows of x, centered and divided by their deviation, times gamma, plus beta.

    Args:
        x: (..., D), float32 or float64, with one or more axes before the last.
        gamma: (D,), dtype of x.
        beta: (D,), dtype of x.
        eps: added to the variance, at least 0; in the unit of x squared.

    Returns:
        y: (..., D), dtype of x.
        ctx: an opaque value for `layernorm_backward`: one array like x, and a number per row.
    """
    centered = _centered(x)
    rstd = _rstd(centered, eps)
    xhat = centered * rstd
    return xhat * gamma + beta, (xhat, rstd, gamma)


def layernorm_backward(grad_y, ctx):
    """Return the gradients of the loss with respect to x, gamma and beta.

    Args:
        grad_y: (..., D), dtype of x: the gradient of the loss with respect to y.
        ctx: the second result of `layernorm`; left as it is, so it can be used again.

    Returns:
        grad_x: (..., D), dtype of x.
        grad_gamma: (D,), dtype of x.
        grad_beta: (D,), dtype of x.
    """
    xhat, rstd, gamma = ctx
    grad_x = _layernorm_grad_x(grad_y, gamma, xhat, rstd)
    return grad_x, _over_rows(grad_y * xhat), _over_rows(grad_y)


def rmsnorm(x, gamma, eps=1e-5):
    """Return the rows of x, divided by their root mean square, times gamma.

    Args:
        x: (..., D), float32 or float64, with one or more axes before the last.
        gamma: (D,), dtype of x.
        eps: added to the mean square, at least 0; in the unit of x squared.

    Returns:
        y: (..., D), dtype of x.
        ctx: an opaque value for `rmsnorm_backward`: one array like x, and a number per row.
    """
    rrms = _rrms(x, eps)
    xhat = x * rrms
    return xhat * gamma, (xhat, rrms, gamma)


def rmsnorm_backward(grad_y, ctx):
    """Return the gradients of the loss with respect to x and gamma.

    Args:
        grad_y: (..., D), dtype of x: the gradient of the loss with respect to y.
        ctx: the second result of `rmsnorm`; left as it is, so it can be used again.

    Returns:
        grad_x: (..., D), dtype of x.
        grad_gamma: (D,), dtype of x.
    """
    xhat, rrms, gamma = ctx
    return _rmsnorm_grad_x(grad_y * gamma, xhat, rrms), _over_rows(grad_y * xhat)


def _mean(values):
    """Return the mean of each row: (..., D) -> (..., 1)."""
    return values.mean(axis=-1, keepdims=True)


def _over_rows(values):
    """Return the sum over all rows: (..., D) -> (D,)."""
    return values.sum(axis=tuple(range(values.ndim - 1)))


def _centered(x):
    """Return x less the mean of its row. What is squared afterwards is as small as the spread."""
    return x - _mean(x)


def _rstd(centered, eps):
    """Return the reciprocal deviation of each row: (..., D) -> (..., 1)."""
    return 1.0 / np.sqrt(_mean(centered * centered) + eps)


def _rrms(x, eps):
    """Return the reciprocal root mean square of each row: (..., D) -> (..., 1)."""
    return 1.0 / np.sqrt(_mean(x * x) + eps)


def _layernorm_grad_x(grad_y, gamma, xhat, rstd):
    """Return the gradient of the input: straight, through the mean and through the deviation."""
    g = grad_y * gamma
    return rstd * (g - _mean(g) - xhat * _mean(g * xhat))


def _rmsnorm_grad_x(g, xhat, rrms):
    """Return the gradient of the input: straight, and through the root mean square."""
    return rrms * (g - xhat * _mean(g * xhat))
