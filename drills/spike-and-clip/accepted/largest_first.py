"""Divides by the largest magnitude before it squares, in the dtype of the gradients."""

import numpy as np

WHY = {"stuck": "b", "climb": "a", "next": "c"}


def clip(grads, max_norm):
    top = max((np.abs(g).max() for g in grads), default=0)
    if top == 0:
        return 0.0
    norm = float(top) * float(np.sqrt(sum(np.square(g / top).sum() for g in grads)))
    for g in grads:
        g *= min(1.0, max_norm / norm)
    return norm


def all_finite(*things):
    return all(np.isfinite(thing).all() for thing in things)


def train_step(params, batch, loss_and_grads, opt, max_norm):
    loss, grads = loss_and_grads(params, batch)
    if not all_finite(loss, *grads):
        return dict(loss=loss, grad_norm=np.nan, skipped=True)
    norm = clip(grads, max_norm)
    opt.step(params, grads)
    return dict(loss=loss, grad_norm=norm, skipped=False)


def find_spikes(norms, window=100, factor=100.0):
    padded = np.concatenate([np.full(window, np.nan), np.asarray(norms, dtype=float)])
    padded[~np.isfinite(padded)] = np.nan
    found = []
    for step, norm in enumerate(norms):
        near = padded[step : step + window]
        usual = np.nan if np.isnan(near).all() else np.nanmedian(near)
        if not np.isfinite(norm) or norm > factor * usual:
            found.append(step)
    return found
