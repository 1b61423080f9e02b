"""Style: ctx refers to the inputs and keeps two numbers per token; the backward pass projects again."""

import numpy as np


def loss_forward(h, w, target, chunk, ignore_index=-100):
    wide = np.float64 if h.dtype == np.float64 else np.float32
    counts = target != ignore_index
    n = int(counts.sum()) or 1
    wanted = np.where(counts, target, 0)
    lse = np.zeros(len(h), wide)
    total = 0.0
    for start in range(0, len(h), chunk):
        some = slice(start, start + chunk)
        z = h[some].astype(wide) @ w.astype(wide).T
        top = z.max(axis=1)
        lse[some] = np.log(np.exp(z - top[:, None]).sum(axis=1))
        own = z[np.arange(len(z)), wanted[some]]
        total += float(((top - own + lse[some]) * counts[some]).sum())
    return total / n, (h, w, wanted, counts, lse, n, chunk, wide)


def loss_backward(grad_loss, ctx):
    h, w, wanted, counts, lse, n, chunk, wide = ctx
    grad_h = np.empty(h.shape, h.dtype)
    grad_w = np.zeros(w.shape, wide)
    w_wide = w.astype(wide)
    for start in range(0, len(h), chunk):
        some = slice(start, start + chunk)
        x = h[some].astype(wide)
        z = x @ w_wide.T
        p = np.exp(z - z.max(axis=1, keepdims=True) - lse[some, None])
        p[np.arange(len(p)), wanted[some]] -= 1
        p *= (counts[some] * (grad_loss / n)).astype(wide)[:, None]
        grad_h[some] = p @ w_wide
        grad_w += p.T @ x
    return grad_h, grad_w.astype(w.dtype)
