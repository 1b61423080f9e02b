"""Style: one token after the other, whatever chunk says; outer products for the matrix."""

import numpy as np


def loss_forward(h, w, target, chunk, ignore_index=-100):
    precise = np.result_type(h.dtype, "f4")
    matrix = w.astype(precise)
    grad_h, grad_w = np.zeros(h.shape, precise), np.zeros(w.shape, precise)
    losses = []
    for row, (x, t) in enumerate(zip(h.astype(precise), target, strict=True)):
        if t == ignore_index:
            continue
        z = matrix @ x
        z = z - z.max()
        log_p = z - np.log(np.sum(np.exp(z)))
        losses.append(float(-log_p[t]))
        dz = np.exp(log_p)
        dz[t] -= 1
        grad_h[row] = dz @ matrix
        grad_w += np.outer(dz, x)
    n = len(losses) or 1
    return sum(losses) / n, (grad_h / n, grad_w / n, h.dtype)


def loss_backward(grad_loss, ctx):
    *grads, dtype = ctx
    return tuple((grad * grad_loss).astype(dtype) for grad in grads)
