"""One step of training, with gradients that are clipped to a norm of at most max_norm."""

import numpy as np


def clip(grads, max_norm):
    """Scale the gradients down in place; return their norm before that."""
    largest = 0.0
    for g in grads:
        norm = float(np.sqrt(np.sum(g * g)))
        largest = max(largest, norm)
        if norm > max_norm:
            g *= max_norm / norm
    return largest


def train_step(params, batch, loss_and_grads, opt, max_norm):
    loss, grads = loss_and_grads(params, batch)
    opt.step(params, grads)
    norm = clip(grads, max_norm)
    return {"loss": loss, "grad_norm": norm}
