"""Another algorithm: the words are cut into blocks, with a running maximum and sum per token."""

import numpy as np

BLOCK = 16


def loss_forward(h, w, target, chunk, ignore_index=-100):
    wide = np.result_type(h.dtype, np.float32)
    rows = np.flatnonzero(target != ignore_index)
    x, wanted = h[rows].astype(wide), target[rows]
    top = np.full(len(rows), -np.inf, wide)
    total = np.zeros(len(rows), wide)
    own = np.zeros(len(rows), wide)
    for first in range(0, len(w), BLOCK):
        z = x @ w[first : first + BLOCK].astype(wide).T
        higher = np.maximum(top, z.max(axis=1))
        total = total * np.exp(top - higher) + np.exp(z - higher[:, None]).sum(axis=1)
        top = higher
        here = np.flatnonzero((wanted >= first) & (wanted < first + BLOCK))
        own[here] = z[here, wanted[here] - first]
    loss = float(((top - own) + np.log(total)).sum()) / max(1, len(rows))
    return loss, (h, w, rows, wanted, top, np.log(total))


def loss_backward(grad_loss, ctx):
    h, w, rows, wanted, top, log_total = ctx
    wide = top.dtype
    x = h[rows].astype(wide)
    scale = grad_loss / max(1, len(rows))
    grad_x = np.zeros(x.shape, wide)
    grad_w = np.zeros(w.shape, w.dtype)
    for first in range(0, len(w), BLOCK):
        block = w[first : first + BLOCK].astype(wide)
        p = np.exp(x @ block.T - top[:, None] - log_total[:, None])
        here = np.flatnonzero((wanted >= first) & (wanted < first + BLOCK))
        p[here, wanted[here] - first] -= 1
        grad_x += p @ block
        grad_w[first : first + BLOCK] = p.T @ x * scale
    grad_h = np.zeros(h.shape, h.dtype)
    grad_h[rows] = grad_x * scale
    return grad_h, grad_w
