"""As torch does it: the norm of the norms, 1e-6 added to it, and a factor of at most 1."""

import statistics

import numpy as np

WHY = {"next": "c", "climb": "a", "stuck": "b"}


def clip(grads, max_norm):
    total = np.linalg.norm([np.linalg.norm(g.astype(np.float64).ravel()) for g in grads])
    factor = np.clip(max_norm / (total + 1e-6), None, 1.0)
    for g in grads:
        np.multiply(g, factor, out=g, casting="same_kind")
    return float(total)


def train_step(params, batch, loss_and_grads, opt, max_norm):
    loss, grads = loss_and_grads(params, batch)
    log = {"loss": loss, "grad_norm": float("nan"), "skipped": True}
    if not np.isfinite(loss) or not all(np.all(np.isfinite(g)) for g in grads):
        return log
    log.update(grad_norm=clip(grads, max_norm), skipped=False)
    opt.step(params, grads)
    return log


def find_spikes(norms, window=100, factor=100.0):
    spikes = []
    for step in range(len(norms)):
        before = [n for n in norms[:step][-window:] if np.isfinite(n)]
        calm = np.isfinite(norms[step]) and (
            not before or norms[step] <= factor * statistics.median(before)
        )
        if not calm:
            spikes.append(step)
    return spikes
