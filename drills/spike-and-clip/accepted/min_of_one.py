"""As minimal trainers write it: the coefficient with 1e-6, at most 1, and always multiplied."""

import numpy as np


def clip(grads, max_norm):
    total_norm = np.sqrt(sum((g**2).sum() for g in grads))
    clip_coef = min(1.0, max_norm / (total_norm + 1e-6))
    for g in grads:
        g *= clip_coef
    return total_norm


def train_step(params, batch, loss_and_grads, opt, max_norm):
    loss, grads = loss_and_grads(params, batch)
    grad_norm = clip(grads, max_norm)
    opt.step(params, grads)
    return dict(loss=loss, grad_norm=grad_norm)
