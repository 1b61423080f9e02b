"""Steps first and looks afterwards: a bad step is undone in the weights and in the optimizer."""

import copy
import math

import numpy as np

WHY = {"next": "c", "climb": "a", "stuck": "b"}


def clip(grads, max_norm):
    norm = math.sqrt(math.fsum(np.vdot(d, d) for d in (g.astype(float) for g in grads)))
    if not norm <= max_norm:
        for g in grads:
            g[...] = g * (max_norm / norm)
    return norm


def train_step(params, batch, loss_and_grads, opt, max_norm):
    weights, kept = [p.copy() for p in params], copy.deepcopy(vars(opt))
    loss, grads = loss_and_grads(params, batch)
    good = math.isfinite(loss) and all(np.isfinite(g).all() for g in grads)
    with np.errstate(all="ignore"):
        norm = clip(grads, max_norm)
        opt.step(params, grads)
    if not good:
        for p, old in zip(params, weights):
            p[...] = old
        vars(opt).update(kept)
    return {"skipped": not good, "grad_norm": norm, "loss": loss}


def find_spikes(norms, window=100, factor=100.0):
    def is_spike(step):
        if not math.isfinite(norms[step]):
            return True
        near = sorted(n for n in norms[max(step - window, 0) : step] if math.isfinite(n))
        if not near:
            return False
        half = len(near) // 2
        middle = near[half] if len(near) % 2 else (near[half - 1] + near[half]) / 2
        return norms[step] > factor * middle

    return [step for step in range(len(norms)) if is_spike(step)]
