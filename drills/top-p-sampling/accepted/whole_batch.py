"""All rows at once: a partition gives each row's threshold, and (B, k) arrays hold the rest."""

import numpy as np


def probs(logits, temperature=1.0, top_k=0, top_p=1.0):
    rows, tokens = logits.shape
    k = min(top_k, tokens) if top_k else tokens
    if temperature == 0:
        k = 1
    chosen = candidates(logits, k)
    z = np.take_along_axis(logits, chosen, axis=1)
    best = z[:, :1].copy()
    best[np.isneginf(best)] = 0
    z = z - best
    if temperature > 0:
        z /= temperature
    e = np.exp(z)
    total = e.sum(axis=1, keepdims=True)
    p = e / np.where(total == 0, 1, total)
    if top_p < 1:
        before = np.zeros_like(p)
        np.cumsum(p[:, :-1], axis=1, out=before[:, 1:])
        p[before >= top_p] = 0
        total = p.sum(axis=1, keepdims=True)
        p /= np.where(total == 0, 1, total)
    result = np.zeros((rows, tokens))
    np.put_along_axis(result, chosen, p, axis=1)
    return result


def candidates(logits, k):
    """The k best tokens of each row, best first, (B, k)."""
    rows, tokens = logits.shape
    if k == tokens:
        return np.argsort(-logits, axis=1, kind="stable")
    kth = np.partition(logits, tokens - k, axis=1)[:, tokens - k, None]
    above = logits > kth
    level = logits == kth
    missing = k - above.sum(axis=1, keepdims=True)
    take = above | (level & (np.cumsum(level, axis=1, dtype=np.int32) <= missing))
    chosen = np.nonzero(take)[1].reshape(rows, k)
    inner = np.argsort(-np.take_along_axis(logits, chosen, axis=1), axis=1, kind="stable")
    return np.take_along_axis(chosen, inner, axis=1)


def sample(logits, u, temperature=1.0, top_k=0, top_p=1.0):
    p = probs(logits, temperature, top_k, top_p)
    beyond = np.cumsum(p, axis=1) > u[:, None]
    last = p.shape[1] - 1 - np.argmax(p[:, ::-1] > 0, axis=1)
    token = np.where(beyond.any(axis=1), beyond.argmax(axis=1), last)
    return np.where(p.any(axis=1), token, -1).astype(np.int64)
