"""Style: the whole batch at once: a partition, a mask for ties, and a sort of what is left."""

import numpy as np


def probs(logits, temperature=1.0, top_k=0, top_p=1.0):
    z = np.array(logits)
    vocabulary = z.shape[1]
    if temperature == 0:
        top_k, temperature = 1, 1.0
    if 0 < top_k < vocabulary:
        kth = np.partition(z, vocabulary - top_k, axis=1)[:, [vocabulary - top_k]]
        room = top_k - (z > kth).sum(axis=1, keepdims=True)
        tied = z == kth
        tied &= np.cumsum(tied, axis=1, dtype=np.int32) > room
        z[(z < kth) | tied] = -np.inf
    top = z.max(axis=1, keepdims=True)
    z -= np.where(np.isfinite(top), top, 0)
    z /= temperature
    np.exp(z, out=z)
    total = z.sum(axis=1, keepdims=True)
    z /= np.where(total > 0, total, 1)
    if top_p < 1:
        for row in z:
            left = np.flatnonzero(row)
            order = left[np.argsort(-row[left], kind="stable")]
            before = np.cumsum(row[order]) - row[order]
            row[order[before >= top_p]] = 0
            if len(left):
                row /= row.sum()
    return z


def sample(logits, u, temperature=1.0, top_k=0, top_p=1.0):
    p = probs(logits, temperature, top_k, top_p)
    past = np.cumsum(p, axis=1) > u[:, None]
    last = p.shape[1] - 1 - np.argmax(p[:, ::-1] > 0, axis=1)
    token = np.where(past.any(axis=1), past.argmax(axis=1), last)
    return np.where(p.any(axis=1), token, -1).astype(np.int64)
