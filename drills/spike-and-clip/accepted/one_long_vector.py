"""All entries in one float64 vector; a norm that is not finite says that an entry is not."""

import numpy as np

WHY = {"next": "c", "climb": "a", "stuck": "b"}


def clip(grads, max_norm):
    every = np.concatenate([np.ravel(g).astype(np.float64) for g in grads])
    norm = np.sqrt(every @ every)
    if norm > max_norm:
        for g in grads:
            g *= max_norm / norm
    return norm


def train_step(params, batch, loss_and_grads, opt, max_norm):
    loss, grads = loss_and_grads(params, batch)
    norm = clip(grads, max_norm)
    finite = bool(np.isfinite([loss, norm]).all())
    if finite:
        opt.step(params, grads)
    return {"loss": loss, "grad_norm": norm, "skipped": not finite}


def find_spikes(norms, window=100, factor=100.0):
    norms = np.asarray(norms, dtype=np.float64)
    finite = np.isfinite(norms)
    limits = np.full(len(norms), np.inf)
    for step in range(len(norms)):
        near = slice(max(0, step - window), step)
        if finite[near].any():
            limits[step] = factor * np.median(norms[near][finite[near]])
    return [int(i) for i in np.flatnonzero(~finite | (norms > limits))]
