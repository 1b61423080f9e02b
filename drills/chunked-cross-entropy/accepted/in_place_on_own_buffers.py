"""Style: one buffer of logits per call, filled again and again with out=; results in place on it."""

import numpy as np


def loss_forward(h, w, target, chunk, ignore_index=-100):
    dtype = np.dtype(np.float64 if h.dtype.itemsize == 8 else np.float32)
    rows, = np.nonzero(target != ignore_index)
    chunk = min(chunk, len(h))
    wide_w = np.ascontiguousarray(w, dtype)
    buffer = np.empty((chunk, len(w)), dtype)
    share = np.empty(wide_w.shape, dtype)
    grad_h, grad_w = np.zeros(h.shape, dtype), np.zeros(w.shape, dtype)
    loss = 0.0
    for at in range(0, rows.size, chunk):
        some = rows[at : at + chunk]
        x = np.ascontiguousarray(h[some], dtype)
        z = buffer[: some.size]
        own = np.arange(some.size), target[some]
        np.matmul(x, wide_w.T, out=z)
        np.subtract(z, z.max(axis=1, keepdims=True), out=z)
        loss -= float(z[own].sum())
        np.exp(z, out=z)
        total = z.sum(axis=1, keepdims=True)
        loss += float(np.log(total).sum())
        np.divide(z, total, out=z)
        np.subtract.at(z, own, 1)
        grad_h[some] = np.matmul(z, wide_w)
        np.matmul(z.T, x, out=share)
        np.add(grad_w, share, out=grad_w)
    if rows.size:
        loss /= rows.size
        grad_h /= dtype.type(rows.size)
        grad_w /= dtype.type(rows.size)
    return loss, [grad_h, grad_w, h.dtype]


def loss_backward(grad_loss, ctx):
    results = []
    for grad in ctx[:2]:
        scaled = grad.copy()
        scaled *= grad_loss
        results.append(scaled.astype(ctx[2]))
    return tuple(results)
