"""A linear layer in eight bits: scales of outputs and tokens, exact sums, gradients through it.

Sources: T. Dettmers et al., "LLM.int8()", 2022, arXiv:2208.07339 (scales of rows, and outliers
apart); S. Esser et al., "Learned Step Size Quantization", 2020, arXiv:1902.08153 (the gradient of a
step).
"""

import numpy as np

TOP = 127  # -128 is not used


def quantize_weight(w: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return whole numbers (F, D) int8 and a scale for each output (F,), of the dtype of w.

    Args:
        w: (F, D), float32 or float64.
    """
    return _quantized(w, _scales(w))


def int8_linear(
    xq: np.ndarray, x_scale: np.ndarray, wq: np.ndarray, w_scale: np.ndarray
) -> np.ndarray:
    """Return (N, F) float32, the product of what the whole numbers stand for.

    Args:
        xq: (N, D) int8.
        x_scale: (N,) float32, a scale for each token.
        wq: (F, D) int8.
        w_scale: (F,) float32, a scale for each output.
    """
    return _sums(xq, wq).astype(np.float32) * x_scale[:, None] * w_scale


def linear(
    x: np.ndarray, wq: np.ndarray, w_scale: np.ndarray, threshold: float = np.inf
) -> np.ndarray:
    """Return (N, F) float32 for activations as they come.

    Args:
        x: (N, D) float32.
        wq: (F, D) int8.
        w_scale: (F,) float32.
        threshold: columns of x with an entry of this magnitude are multiplied in float32.
    """
    out = _outliers(x, threshold)
    kept = np.where(out, 0, x)
    y = int8_linear(*_quantized(kept, _token_scales(kept)), wq, w_scale)
    return y + _apart(x, out, wq, w_scale)


def qat_backward(
    grad_y: np.ndarray, x: np.ndarray, w: np.ndarray, clip: float
) -> tuple[np.ndarray, np.ndarray, float]:
    """Return the straight-through gradients of x (N, D), w (F, D) and clip.

    Args:
        grad_y: (N, F) float64.
        x: (N, D) float64.
        w: (F, D) float64.
        clip: where x is limited, above 0.
    """
    wq, scale = quantize_weight(w)
    x_hat = _rounded(x, clip)
    grad_x_hat = grad_y @ (wq * scale[:, None])
    slopes = _slopes_of_clip(x, x_hat, clip)
    grad_clip = float((grad_x_hat * slopes).sum())
    return grad_x_hat * _inside(x, clip), grad_y.T @ x_hat, grad_clip


def _scales(a: np.ndarray) -> np.ndarray:
    """Return the smallest scale with which nothing in a row lies beyond 127; 1 for rows of 0."""
    peak = np.abs(a).max(axis=1)
    return np.where(peak > 0, peak / TOP, 1).astype(a.dtype)


def _token_scales(x: np.ndarray) -> np.ndarray:
    return _scales(x)


def _quantized(a: np.ndarray, scale: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the nearest whole numbers, and the scales."""
    return np.rint(a / scale[:, None]).astype(np.int8), scale


def _sums(xq: np.ndarray, wq: np.ndarray) -> np.ndarray:
    """Return the sums of products (N, F), exactly: int32 lasts for 133,144 of them."""
    return xq.astype(np.int32) @ wq.T.astype(np.int32)


def _outliers(x: np.ndarray, threshold: float) -> np.ndarray:
    """Return which columns (D,) hold an entry that reaches the threshold."""
    return (np.abs(x) >= threshold).any(axis=0)


def _apart(x: np.ndarray, out: np.ndarray, wq: np.ndarray, w_scale: np.ndarray) -> np.ndarray:
    """Return what the columns that are left out add, in float32."""
    return x[:, out] @ (wq[:, out] * w_scale[:, None]).T


def _rounded(x: np.ndarray, clip: float) -> np.ndarray:
    """Return x limited to clip and rounded to the nearest multiple of clip / 127."""
    return np.rint(np.clip(x, -clip, clip) / clip * TOP) * (clip / TOP)


def _inside(x: np.ndarray, clip: float) -> np.ndarray:
    """Return the slope of limiting, 1 up to clip and 0 beyond."""
    return np.abs(x) <= clip


def _slopes_of_clip(x: np.ndarray, x_hat: np.ndarray, clip: float) -> np.ndarray:
    """Return the slope of x_hat in clip: the step grows with it, and so does what is limited."""
    return np.where(_inside(x, clip), (x_hat - x) / clip, np.sign(x))
