"""The step clips copies of its own; the alarm keeps a window that forgets by itself."""

import collections
import math

import numpy as np

WHY = {"next": "c", "climb": "a", "stuck": "b"}


def measured(grads):
    return math.hypot(*(np.linalg.norm(np.asarray(g, dtype=np.float64)) for g in grads))


def shortened(grads, norm, max_norm):
    return [g * min(1.0, max_norm / norm) if norm else g for g in grads]


def clip(grads, max_norm):
    norm = measured(grads)
    for g, short in zip(grads, shortened(grads, norm, max_norm)):
        g[...] = short
    return norm


def train_step(params, batch, loss_and_grads, opt, max_norm):
    loss, grads = loss_and_grads(params, batch)
    norm = measured(grads)
    skipped = not (math.isfinite(norm) and math.isfinite(loss))
    if not skipped:
        opt.step(params, shortened(grads, norm, max_norm))
    return {"loss": float(loss), "grad_norm": norm, "skipped": skipped, "clipped": norm > max_norm}


def find_spikes(norms, window=100, factor=100.0):
    near, found = collections.deque(maxlen=window), []
    for step, norm in enumerate(norms):
        finite = [n for n in near if n is not None]
        if not math.isfinite(norm):
            found.append(step)
            near.append(None)
            continue
        if finite and norm > factor * np.median(finite):
            found.append(step)
        near.append(norm)
    return found
