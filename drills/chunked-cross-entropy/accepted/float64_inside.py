"""Style: float64 between input and output, whatever the dtype of the inputs."""

import numpy as np


def loss_forward(h, w, target, chunk, ignore_index=-100):
    H, W = np.float64(h), np.float64(w)
    counted = np.not_equal(target, ignore_index)
    n = counted.sum()
    loss = np.float64(0)
    dH, dW = np.zeros_like(H), np.zeros_like(W)
    for begin in np.arange(0, len(H), chunk):
        rows = np.arange(begin, min(begin + chunk, len(H)))[counted[begin : begin + chunk]]
        if rows.size == 0:
            continue
        z = H[rows] @ W.T
        m = z.max(1, keepdims=True)
        e = np.exp(z - m)
        s = e.sum(1, keepdims=True)
        t = target[rows, None]
        loss += (np.log(s) + m - np.take_along_axis(z, t, 1)).sum()
        dz = e / s
        np.put_along_axis(dz, t, np.take_along_axis(dz, t, 1) - 1, 1)
        dH[rows] = dz @ W
        dW += dz.T @ H[rows]
    if n:
        loss, dH, dW = loss / n, dH / n, dW / n
    return loss, (dH, dW, h.dtype)


def loss_backward(grad_loss, ctx):
    dH, dW, dtype = ctx
    return np.asarray(grad_loss * dH, dtype), np.array(grad_loss * dW, dtype)
