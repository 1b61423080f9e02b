"""Wrong: a row without tokens draws V."""

import numpy as np


def ranked(row, k):
    order = np.argsort(-row, kind="stable")[: np.count_nonzero(row > -np.inf)]
    return order[:k] if k else order


def softmax(z):
    e = np.exp(z - z.max())
    return e / e.sum()


def distribution(row, temperature, k, top_p):
    out = np.zeros(len(row))
    order = ranked(row, k)
    if len(order) == 0:
        return out
    if temperature == 0:
        out[order[0]] = 1
        return out
    p = softmax(row[order] / temperature)
    if top_p < 1:
        before = np.concatenate([[0.0], np.cumsum(p)[:-1]])
        p = np.where(before < top_p, p, 0)
    out[order] = p / p.sum()
    return out


def probs(logits, temperature=1.0, top_k=0, top_p=1.0):
    return np.stack([distribution(row, temperature, top_k, top_p) for row in logits])


def draw(p, u):
    tokens = np.flatnonzero(p)
    if len(tokens) == 0:
        return len(p)
    return min(np.searchsorted(np.cumsum(p), u, side="right"), tokens[-1])


def sample(logits, u, temperature=1.0, top_k=0, top_p=1.0):
    p = probs(logits, temperature, top_k, top_p)
    return np.array([draw(row, x) for row, x in zip(p, u)], dtype=np.int64)
