"""As a framework's utility: norms per array stacked, their norm, error_if_nonfinite."""

import numpy as np


def clip_grad_norm_(parameters, max_norm, norm_type=2.0, error_if_nonfinite=False):
    grads = [g for g in parameters if g is not None]
    if len(grads) == 0:
        return 0.0
    norms = np.stack([np.linalg.norm(g.reshape(-1), norm_type) for g in grads])
    total_norm = np.linalg.norm(norms, norm_type)
    if error_if_nonfinite and not np.isfinite(total_norm):
        raise RuntimeError(f"The total norm of order {norm_type} is non-finite")
    clip_coef_clamped = np.clip(max_norm / (total_norm + 1e-6), None, 1.0)
    for g in grads:
        np.multiply(g, clip_coef_clamped, out=g)
    return total_norm.item()


def clip(grads, max_norm):
    return clip_grad_norm_(grads, float(max_norm))


def train_step(params, batch, loss_and_grads, opt, max_norm):
    loss, grads = loss_and_grads(params, batch)
    norm = clip(grads, max_norm)
    opt.step(params, grads)
    return {"loss": float(loss), "grad_norm": norm}
