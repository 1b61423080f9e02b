"""Wrong: what arrives at the loss is cut off at 1."""

import numpy as np


def loss_forward(h, w, target, chunk, ignore_index=-100):
    wide = np.result_type(h.dtype, np.float32)
    matrix = w.astype(wide)
    counted = target != ignore_index
    n = max(int(counted.sum()), 1)
    loss = 0.0
    grad_h, grad_w = np.zeros(h.shape, wide), np.zeros(w.shape, wide)
    for start in range(0, len(h), chunk):
        rows = np.arange(start, min(start + chunk, len(h)))
        rows = rows[counted[rows]]
        if len(rows) == 0:
            continue
        x, wanted = h[rows].astype(wide), target[rows]
        z = x @ matrix.T
        z = z - z.max(axis=1, keepdims=True)
        log_p = z - np.log(np.exp(z).sum(axis=1, keepdims=True))
        own = np.arange(len(rows)), wanted
        loss -= float(log_p[own].sum()) / n
        dz = np.exp(log_p)
        dz[own] -= 1
        dz /= n
        grad_h[rows] = dz @ matrix
        grad_w += dz.T @ x
    return loss, (grad_h, grad_w, h.dtype)


def loss_backward(grad_loss, ctx):
    grad_h, grad_w, dtype = ctx
    grad_loss = min(grad_loss, 1.0)
    return (grad_loss * grad_h).astype(dtype), (grad_loss * grad_w).astype(dtype)
