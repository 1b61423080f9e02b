# %% factor_added
"""A spike is factor above the median."""

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
    return bool(np.isfinite(loss)) and all(bool(np.all(np.isfinite(g))) for g in grads)


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
        if not math.isfinite(norm) or (before and norm > factor + float(np.median(before))):
            found.append(step)
    return found


WHY = {"next": "c", "climb": "a", "stuck": "b"}


# %% infinity_over_infinity
"""Multiplies by max_norm / max(norm, max_norm), which is NaN where max_norm is infinite."""

import math

import numpy as np


def norm_of(grads):
    return math.sqrt(sum(float(np.sum(np.square(g, dtype=np.float64))) for g in grads))


def clip(grads, max_norm):
    norm = norm_of(grads)
    for g in grads:
        g *= max_norm / max(norm, max_norm)
    return norm


def is_usable(loss, grads):
    return bool(np.isfinite(loss)) and all(bool(np.all(np.isfinite(g))) for g in grads)


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


# %% scaled_twice
"""Every array is multiplied by the factor twice."""

import math

import numpy as np


def norm_of(grads):
    return math.sqrt(sum(float(np.sum(np.square(g, dtype=np.float64))) for g in grads))


def clip(grads, max_norm):
    norm = norm_of(grads)
    if norm > max_norm:
        for g in grads:
            g *= max_norm / norm
            g *= max_norm / norm
    return norm


def is_usable(loss, grads):
    return bool(np.isfinite(loss)) and all(bool(np.all(np.isfinite(g))) for g in grads)


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
