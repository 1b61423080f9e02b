"""Norms by hypot, which cannot overflow; a window that is kept sorted."""

import bisect

import numpy as np

WHY = {"next": "c", "climb": "a", "stuck": "b"}


def clip(grads, max_norm):
    norm = 0.0
    for g in grads:
        norm = np.hypot(norm, np.hypot.reduce(g.astype(np.float64), axis=None))
    if norm > max_norm:
        for i in range(len(grads)):
            grads[i] *= max_norm / norm
    return float(norm)


def train_step(params, batch, loss_and_grads, opt, max_norm):
    loss, grads = loss_and_grads(params, batch)
    bad = sum(int(np.count_nonzero(~np.isfinite(x))) for x in (np.array(loss), *grads))
    if bad:
        return {"loss": loss, "grad_norm": 0.0, "skipped": True}
    norm = clip(grads, max_norm)
    opt.step(params=params, grads=grads)
    return {"loss": loss, "grad_norm": norm, "skipped": False}


def find_spikes(norms, window=100, factor=100.0):
    found, near = [], []
    for step, norm in enumerate(norms):
        gone = norms[step - window - 1] if step > window else np.nan
        if np.isfinite(gone):
            del near[bisect.bisect_left(near, gone)]
        if np.isfinite(norm) and near:
            usual = (near[(len(near) - 1) // 2] + near[len(near) // 2]) / 2
            if norm > factor * usual:
                found.append(step)
        elif not np.isfinite(norm):
            found.append(step)
        if np.isfinite(norm):
            bisect.insort(near, norm)
    return found
