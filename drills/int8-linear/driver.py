"""Activations and weights that no right way of rounding is in doubt about, and calls with them."""

import numpy as np


def apart(_program, a, row_sizes, column_sizes, threshold=np.inf):
    """Return `a` times sizes of its rows and columns, away from the middle of two whole numbers.

    Args:
        a: (n, m), floats, or whole numbers that become float32.
        row_sizes: (n,) or (1,).
        column_sizes: (m,) or (1,).
        threshold: columns that reach it are left out of the scales.
    """
    wide = a.astype(np.float64) * row_sizes[:, None] * column_sizes
    kept = np.where((np.abs(wide) >= threshold).any(axis=0), 0, wide)
    peak = np.abs(kept).max(axis=1, keepdims=True)
    steps = kept * 127 / np.where(peak > 0, peak, 1)
    # Whoever is within a twentieth of a middle moves a tenth of a step toward 0; the peak stays.
    near = np.abs(np.abs(steps - np.rint(steps)) - 0.5) < 0.05
    moved = np.where(near, wide - np.sign(wide) * 0.1 * peak / 127, wide)
    return moved.astype(np.float32 if a.dtype.kind == "i" else a.dtype)


def quantized(program, w):
    """Return the whole numbers and the scales of weights, these as float64."""
    wq, scale = program.quantize_weight(w)
    return wq, np.asarray(scale).astype(np.float64)


def restored(program, w):
    """Return the whole numbers, and what they stand for; nothing may be divided by 0."""
    with np.errstate(divide="raise", invalid="raise"):
        wq, scale = program.quantize_weight(w)
    return wq, wq * np.asarray(scale).astype(np.float64)[:, None]


def product(program, xq, x_scale, wq, w_scale, turn=False):
    """Return what int8_linear gives, as float64.

    Args:
        program: the functions under test.
        xq: (N, D) whole numbers.
        x_scale: (N,).
        wq: (F, D) whole numbers.
        w_scale: (F,).
        turn: whether the second half is the first one over again, tokens with the other sign, and
            a few weights as they were: large sums of which little is left.
    """
    xq, wq = xq.astype(np.int8), wq.astype(np.int8)
    if turn:
        half = xq.shape[1] // 2
        few = np.arange(half, 2 * half, 2000)
        left = wq[:, few]
        xq[:, half:], wq[:, half:] = -xq[:, :half], wq[:, :half]
        wq[:, few] = left
    scales = (scale.astype(np.float32) for scale in (x_scale, w_scale))
    x_scale, w_scale = scales
    return np.asarray(program.int8_linear(xq, x_scale, wq, w_scale)).astype(np.float64)


def tokens(program, x, wq, w_scale, threshold=None):
    """Return what linear gives, each token's divided by its own largest entry, as float64.

    And x after that.
    """
    peak = np.abs(x).max(axis=1, keepdims=True).astype(np.float64)
    wq, w_scale = wq.astype(np.int8), w_scale.astype(np.float32)
    given = () if threshold is None else (threshold,)
    with np.errstate(divide="raise", invalid="raise"):
        y = np.asarray(program.linear(x, wq, w_scale, *given)).astype(np.float64)
    return y / np.where(peak > 0, peak, 1), x


def edges(program, grad_y, x, w, clip):
    """Return which entries of x get a gradient, and that of clip."""
    grad_x, _, grad_clip = program.qat_backward(grad_y, x.astype(np.float64), w, clip)
    return grad_x != 0, float(grad_clip)
