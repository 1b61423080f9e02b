"""Squares in the dtype of the gradients, after a power of two has brought them near to 1."""

import math

import numpy as np

WHY = {"next": "c", "climb": "a", "stuck": "b"}


def clip(grads, max_norm):
    exponent = int(np.frexp(max(float(np.abs(g).max()) for g in grads))[1])
    small = [np.ldexp(g, -exponent) for g in grads]
    norm = math.ldexp(math.sqrt(sum(float(np.sum(s * s)) for s in small)), exponent)
    if norm > max_norm:
        factor = max_norm / norm
        for g in grads:
            g *= g.dtype.type(factor)
    return norm


def train_step(params, batch, loss_and_grads, opt, max_norm):
    loss, grads = loss_and_grads(params, batch)
    usable = np.isfinite(loss) and np.all([np.isfinite(g).all() for g in grads])
    norm = None
    if usable:
        norm = clip(grads, max_norm)
        opt.step(params, grads)
    return {"loss": loss, "grad_norm": norm if usable else np.nan, "skipped": not usable}


def find_spikes(norms, window=100, factor=100.0):
    spikes = set()
    for step, norm in enumerate(norms):
        start = 0 if step < window else step - window
        before = np.array(norms[start:step], dtype=float)
        before = before[np.isfinite(before)]
        if before.size and norm > factor * np.percentile(before, 50):
            spikes.add(step)
        if np.isnan(norm) or np.isinf(norm):
            spikes.add(step)
    return sorted(spikes)
