"""Whole rows are sorted by (logit, index); what is worked on is one row at a time."""

import numpy as np


def one_row(row, temperature, top_k, top_p):
    out = np.zeros(row.shape[0])
    order = np.lexsort((np.arange(row.shape[0]), -row))
    order = order[row[order] != -np.inf]
    if temperature == 0:
        out[order[:1]] = 1.0
        return out
    if top_k > 0:
        order = order[:top_k]
    if order.size:
        z = row[order] / temperature
        p = np.exp(z - z.max())
        p /= p.sum()
        if top_p < 1.0:
            shifted = np.roll(np.cumsum(p), 1)
            shifted[0] = 0.0
            p = np.where(shifted < top_p, p, 0.0)
        out[order] = p / p.sum()
    return out


def probs(logits, temperature=1.0, top_k=0, top_p=1.0):
    p = np.empty(logits.shape)
    for i in range(logits.shape[0]):
        p[i] = one_row(logits[i], temperature, top_k, top_p)
    return p


def sample(logits, u, temperature=1.0, top_k=0, top_p=1.0):
    drawn = -np.ones(logits.shape[0], dtype=np.int64)
    for i in range(logits.shape[0]):
        p = one_row(logits[i], temperature, top_k, top_p)
        enough = np.flatnonzero((np.cumsum(p) > u[i]) & (p > 0))
        weighty = np.flatnonzero(p > 0)
        if weighty.size:
            drawn[i] = enough[0] if enough.size else weighty[-1]
    return drawn
