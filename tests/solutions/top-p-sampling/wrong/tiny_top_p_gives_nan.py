"""Wrong: the sum from below exceeds 1 - top_p nowhere, if top_p is tiny."""

import numpy as np


def probs(logits, temperature=1.0, top_k=0, top_p=1.0):
    out = np.zeros_like(logits)
    for b, row in enumerate(logits):
        if not np.isfinite(row).any():
            continue
        order = np.argsort(-row, kind="stable")
        if temperature == 0:
            out[b, order[0]] = 1
            continue
        z = row / temperature
        if top_k:
            order = order[:top_k]
        e = np.exp(z[order] - z[order].max())
        p = e / e.sum()
        if top_p < 1:
            up = p[::-1]
            c = np.cumsum(up)
            keep = (c > 1 - top_p)[::-1]
            p = np.where(keep, p, 0)
            p = p / p.sum()
        out[b, order] = p
    return out


def sample(logits, u, temperature=1.0, top_k=0, top_p=1.0):
    p = probs(logits, temperature, top_k, top_p)
    out = []
    for r, x in zip(p, u):
        a = np.nonzero(np.cumsum(r) > x)[0]
        l = np.nonzero(r)[0]
        out.append(a[0] if len(a) else l[-1] if len(l) else -1)
    return np.array(out, dtype=np.int64)
