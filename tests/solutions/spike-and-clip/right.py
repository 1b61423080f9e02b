# %% decorated_step
"""The guard is wrapped around a plain step, which raises for what is not finite."""

import functools
import math

import numpy as np

WHY = {"next": "c", "climb": "a", "stuck": "b"}


class NotFinite(ArithmeticError):
    pass


def skipping(step):
    @functools.wraps(step)
    def guarded(*args, **settings):
        try:
            return step(*args, **settings) | {"skipped": False}
        except NotFinite as bad:
            return {"loss": bad.args[0], "grad_norm": bad.args[1], "skipped": True}

    return guarded


def clip(grads, max_norm):
    norm = functools.reduce(lambda n, g: math.hypot(n, np.linalg.norm(g.astype("d"))), grads, 0.0)
    shrink = 1.0 if norm <= max_norm else max_norm / norm
    _ = [np.multiply(g, shrink, g) for g in grads]
    return norm


@skipping
def train_step(params, batch, loss_and_grads, opt, max_norm):
    loss, grads = loss_and_grads(params, batch)
    norm = clip(grads, max_norm)
    if not math.isfinite(loss + norm):
        raise NotFinite(loss, norm)
    opt.step(params, grads)
    return {"loss": loss, "grad_norm": norm}


def find_spikes(norms, window=100, factor=100.0):
    def usual(step):
        return np.median(
            [n for n in norms[max(step - window, 0) : step] if abs(n) < math.inf] or [math.inf]
        )

    return [i for i, n in enumerate(norms) if not abs(n) <= factor * usual(i) or n == math.inf]


# %% float32_careful
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


# %% plain_loops
"""Entry by entry, with Python's own numbers."""

import math

WHY = {"next": "c", "climb": "a", "stuck": "b"}


def clip(grads, max_norm):
    total = 0.0
    for g in grads:
        for entry in g.flat:
            total += float(entry) ** 2
    norm = total**0.5
    if norm <= max_norm:
        return norm
    for g in grads:
        for i in range(g.size):
            g.flat[i] *= max_norm / norm
    return norm


def train_step(params, batch, loss_and_grads, opt, max_norm):
    loss, grads = loss_and_grads(params, batch)
    for g in grads:
        for entry in g.flat:
            if not math.isfinite(entry):
                return {"loss": loss, "grad_norm": entry, "skipped": True}
    if loss != loss or abs(loss) == math.inf:
        return {"loss": loss, "grad_norm": loss, "skipped": True}
    norm = clip(grads, max_norm)
    opt.step(params, grads)
    return {"loss": loss, "grad_norm": norm, "skipped": False}


def find_spikes(norms, window=100, factor=100.0):
    found = []
    for i in range(len(norms)):
        near = []
        for j in range(i - window, i):
            if j >= 0 and math.isfinite(norms[j]):
                near.append(norms[j])
        near.sort()
        if not math.isfinite(norms[i]):
            found.append(i)
        elif near and norms[i] > factor * (near[(len(near) - 1) // 2] + near[len(near) // 2]) / 2:
            found.append(i)
    return found
