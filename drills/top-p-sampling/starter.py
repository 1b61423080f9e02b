"""Token sampling: temperature, top-k, nucleus (top-p), and a draw."""

import numpy as np


def probs(logits, temperature=1.0, top_k=0, top_p=1.0):
    """Return the distribution, in the order of the vocabulary."""
    z = logits / temperature
    if top_k:
        kth = np.sort(z, axis=1)[:, -min(top_k, z.shape[1])]
        z = np.where(z >= kth[:, None], z, -np.inf)
    e = np.exp(z - z.max(axis=1, keepdims=True))
    p = e / e.sum(axis=1, keepdims=True)
    if top_p < 1:
        order = np.argsort(-p, axis=1, kind="stable")
        total = np.cumsum(np.take_along_axis(p, order, axis=1), axis=1)
        keep = total <= top_p
        keep[:, 0] = True
        mask = np.zeros_like(keep)
        np.put_along_axis(mask, order, keep, axis=1)
        p = np.where(mask, p, 0)
        p /= p.sum(axis=1, keepdims=True)
    return p


def sample(logits, u, temperature=1.0, top_k=0, top_p=1.0):
    """Return a token for each row, drawn with that row's u."""
    p = probs(logits, temperature, top_k, top_p)
    total = np.cumsum(p, axis=1)
    return np.array([np.searchsorted(row, x) for row, x in zip(total, u)])
