"""Einsum throughout; z is kept, and h is computed from it again."""

import numpy as np

WHY = {"bias": "c", "sizes": "a", "stacked": "d"}


def _act(z, act):
    if act == "relu":
        return z * (z > 0)
    # The hyperbolic tangent never overflows.
    return 0.5 * np.tanh(0.5 * z) + 0.5


def forward(x, W1, b1, W2, b2, act):
    z = np.einsum("bd,md->bm", x, W1) + b1
    y = np.einsum("bm,om->bo", _act(z, act), W2) + b2
    return y, {"x": x, "z": z, "W": (W1, W2), "act": act}


def half_squared_error(y, t, keep=None):
    mask = np.ones(y.shape, bool) if keep is None else np.repeat(keep[:, None], y.shape[1], axis=1)
    residual = np.subtract(y, t, where=mask, out=np.zeros_like(y))
    count = int(mask[:, 0].sum())
    if count == 0:
        return 0.0, residual
    return np.einsum("bo,bo->", residual, residual) / (2 * count), residual / count


def backward(grad_y, cache):
    x, z, (W1, W2) = cache["x"], cache["z"], cache["W"]
    h = _act(z, cache["act"])
    slope = (z > 0).astype(z.dtype) if cache["act"] == "relu" else h - h * h
    grad_z = np.einsum("bo,om,bm->bm", grad_y, W2, slope)
    return (
        np.einsum("bm,md->bd", grad_z, W1),
        np.einsum("bm,bd->md", grad_z, x),
        np.einsum("bm->m", grad_z),
        np.einsum("bo,bm->om", grad_y, h),
        np.einsum("bo->o", grad_y),
    )
