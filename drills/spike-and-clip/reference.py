"""A training step that survives a bad batch: clip a finite spike, skip what is not finite."""

import math

import numpy as np


def norm_of(grads):
    """Return the Euclidean norm over all elements of all arrays."""
    return math.sqrt(sum(float(np.sum(np.square(g))) for g in grads))


def scale_of(norm, max_norm):
    """Return the factor of all gradients, 1 at most."""
    return max_norm / norm if norm > max_norm else 1.0


def clip(grads, max_norm):
    """Scale the gradients in place to a norm of max_norm at most; return the norm of before."""
    norm = norm_of(grads)
    scale = scale_of(norm, max_norm)
    for g in grads:
        g *= scale
    return norm


def is_usable(loss, grads):
    """Whether the loss and every element of the gradients are finite."""
    return bool(np.isfinite(loss)) and all(bool(np.all(np.isfinite(g))) for g in grads)


def train_step(params, batch, loss_and_grads, opt, max_norm):
    """Make one step with clipped gradients, or none; return what to log."""
    loss, grads = loss_and_grads(params, batch)
    usable = is_usable(loss, grads)
    norm = clip(grads, max_norm) if usable else math.nan
    if usable:
        opt.step(params, grads)
    return {"loss": loss, "grad_norm": norm, "skipped": not usable}


def find_spikes(norms, window=100, factor=100.0):
    """Return the steps whose norm is not finite, or far above the median of those before it."""
    found = []
    for step, norm in enumerate(norms):
        before = [n for n in norms[max(step - window, 0) : step] if math.isfinite(n)]
        if not math.isfinite(norm) or (before and norm > factor * float(np.median(before))):
            found.append(step)
    return found


WHY = {"next": "c", "climb": "a", "stuck": "b"}
