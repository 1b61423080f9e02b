"""Wrong: arrays of the size of the batch hold the order and all shares, in part 3 too."""

import numpy as np


def probs(logits, temperature=1.0, top_k=0, top_p=1.0):
    k = 1 if temperature == 0 else top_k or logits.shape[1]
    order = np.argsort(-logits, axis=1, kind="stable")
    z = np.take_along_axis(logits, order, axis=1)
    z = np.where(np.arange(z.shape[1]) < k, z, -np.inf)
    top = np.where(np.isfinite(z[:, :1]), z[:, :1], 0)
    e = np.exp((z - top) / (temperature or 1.0))
    p = e / np.maximum(e.sum(axis=1, keepdims=True), 1e-300)
    if top_p < 1:
        total = np.cumsum(p, axis=1)
        before = np.concatenate([np.zeros_like(total[:, :1]), total[:, :-1]], axis=1)
        p = np.where(before < top_p, p, 0)
        p = p / np.maximum(p.sum(axis=1, keepdims=True), 1e-300)
    result = np.zeros_like(p)
    np.put_along_axis(result, order, p, axis=1)
    return result


def sample(logits, u, temperature=1.0, top_k=0, top_p=1.0):
    p = probs(logits, temperature, top_k, top_p)
    total = np.cumsum(p, axis=1)
    last = p.shape[1] - 1 - np.argmax(p[:, ::-1] > 0, axis=1)
    token = np.minimum((total <= u[:, None]).sum(axis=1), last)
    return np.where(p.any(axis=1), token, -1).astype(np.int64)
