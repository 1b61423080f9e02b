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
