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
