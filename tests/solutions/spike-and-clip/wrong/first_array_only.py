"""Only the first array is looked at for what is not finite."""

import math

import numpy as np


def norm_of(grads):
    return math.sqrt(sum(float(np.sum(np.square(g, dtype=np.float64))) for g in grads))


def clip(grads, max_norm):
    norm = norm_of(grads)
    if norm > max_norm:
        for g in grads:
            g *= max_norm / norm
    return norm


def is_usable(loss, grads):
    return bool(np.isfinite(loss)) and bool(np.all(np.isfinite(grads[0])))


def train_step(params, batch, loss_and_grads, opt, max_norm):
    loss, grads = loss_and_grads(params, batch)
    if not is_usable(loss, grads):
        return {"loss": loss, "grad_norm": math.nan, "skipped": True}
    norm = clip(grads, max_norm)
    opt.step(params, grads)
    return {"loss": loss, "grad_norm": norm, "skipped": False}


def find_spikes(norms, window=100, factor=100.0):
    found = []
    for step, norm in enumerate(norms):
        before = [n for n in norms[max(step - window, 0) : step] if math.isfinite(n)]
        if not math.isfinite(norm) or (before and norm > factor * float(np.median(before))):
            found.append(step)
    return found


WHY = {"next": "c", "climb": "a", "stuck": "b"}
