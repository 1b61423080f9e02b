"""Style: float32 for all that is not float64, the loss too, with the target's own term by expm1."""

import numpy as np


def loss_forward(h, w, target, chunk, ignore_index=-100):
    dtype = np.float64 if h.dtype == np.float64 else np.float32
    rows = np.flatnonzero(target != ignore_index)
    losses = np.zeros(len(rows), dtype)
    grad_h, grad_w = np.zeros(h.shape, dtype), np.zeros(w.shape, dtype)
    for at in range(0, len(rows), chunk):
        some = rows[at : at + chunk]
        own = np.arange(len(some)), target[some]
        x = h[some].astype(dtype)
        z = x @ w.T.astype(dtype)
        z -= z[own][:, None].copy()  # the target's logit is 0 now: the loss is what is left
        top = z.max(axis=1, keepdims=True)
        lse = top + np.log(np.exp(z - top).sum(axis=1, keepdims=True, dtype=dtype))
        losses[at : at + chunk] = lse[:, 0]
        dz = np.exp(z - lse)
        dz[own] = np.expm1(-lse[:, 0])
        grad_h[some] = dz @ w.astype(dtype)
        grad_w += dz.T @ x
    n = dtype(max(len(rows), 1))
    return losses.sum(dtype=dtype) / n, (grad_h / n, grad_w / n, h.dtype)


def loss_backward(grad_loss, ctx):
    grad_h, grad_w, dtype = ctx
    scale = grad_h.dtype.type(grad_loss)
    return (scale * grad_h).astype(dtype), (scale * grad_w).astype(dtype)
