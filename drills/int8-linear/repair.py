"""A linear layer with weights and activations of eight bits."""

import numpy as np


def quantize_weight(w):
    """Return the weights as int8 numbers, and their scales."""
    # why: w is (out, in). A scale leaves the sum over inputs only if all terms of the sum share it,
    #      so it belongs to an output, which is a row, and each row is divided by its own.
    scale = np.abs(w).max(axis=1) / w.dtype.type(127)
    # why 2: A row of zeros has any other scale, and divides by it.
    scale = np.where(scale > 0, scale, w.dtype.type(1))
    # -128 is not used: the range is the same on both sides of 0.
    # why: The scales stand in a column, so that they line up with the rows.
    wq = np.rint(w / scale[:, None]).astype(np.int8)
    return wq, scale


def int8_linear(xq, x_scale, wq, w_scale):
    """Multiply int8 numbers, and return float32."""
    # why 2: float32 holds whole numbers up to 2^24, which 1,041 products of 127 by 127 pass; int32
    #        lasts for 133,144 of them.
    total = xq.astype(np.int32) @ wq.T.astype(np.int32)
    # Every entry has the scale of its token and that of its weights.
    # why 2: The sums become float32 once they are complete.
    return total.astype(np.float32) * x_scale[:, None] * w_scale


def linear(x, wq, w_scale, threshold=np.inf):
    """Quantize x on the way in."""
    # why 2: Columns with an outlier leave before scales are chosen, each token has a scale as an
    #        output has, and what left is added in float32.
    out = (np.abs(x) >= threshold).any(axis=0)
    xq, x_scale = quantize_weight(np.where(out, np.float32(0), x))
    y = int8_linear(xq, x_scale, wq, w_scale)
    return y + x[:, out] @ (wq[:, out] * w_scale[:, None]).T


# why 3: Rounding counts as a function of slope 1, so gradients pass it, up to clip. clip is in the
#        step, which scales all of xh, and in the limit.
def qat_backward(grad_y, x, w, clip):
    """Return the straight-through gradients of x, w and clip."""
    wq, w_scale = quantize_weight(w)
    x_hat = np.rint(np.clip(x, -clip, clip) / clip * 127) * (clip / 127)
    inside = np.abs(x) <= clip
    g = grad_y @ (wq * w_scale[:, None])
    grad_clip = (g * np.where(inside, (x_hat - x) / clip, np.sign(x))).sum()
    return g * inside, grad_y.T @ x_hat, float(grad_clip)
