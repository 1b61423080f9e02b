"""One step of training, its gradients clipped to a norm of max_norm at most."""

import numpy as np


def clip(grads, max_norm):
    """Scale long gradients down in place, and return the norm that they had."""
    norms = [float(np.sqrt(np.sum(g * g))) for g in grads]
    for g, norm in zip(grads, norms):
        if norm > max_norm:
            g *= max_norm / norm
    return float(np.sqrt(np.sum(np.square(norms))))


def train_step(params, batch, loss_and_grads, opt, max_norm):
    """Make one step with the gradients of a batch; return what to log."""
    loss, grads = loss_and_grads(params, batch)
    opt.step(params, grads)
    norm = clip(grads, max_norm)
    return {"loss": loss, "grad_norm": norm}
