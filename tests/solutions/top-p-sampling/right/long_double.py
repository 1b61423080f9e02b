"""Style: long double inside, cast at the end; totals from the tail decide what the nucleus drops."""

import numpy as np

WIDE = np.longdouble


def probs(logits, temperature=1.0, top_k=0, top_p=1.0):
    b, v = logits.shape
    result = np.zeros((b, v), dtype=np.float64)
    for i in range(b):
        row = np.array(logits[i], dtype=np.float64)
        order = np.argsort(-row, kind="stable")
        order = order[: np.count_nonzero(~np.isneginf(row))]
        if top_k != 0:
            order = order[:top_k]
        if temperature == 0:
            order = order[:1]
        if order.size == 0:
            continue
        z = row[order].astype(WIDE)
        z -= z[0]
        if temperature != 0:
            z /= WIDE(temperature)
        w = np.exp(z)
        if top_p != 1.0:
            # what is left from each token on; a token stays while more than 1 - top_p is left
            left = np.cumsum(w[::-1])[::-1] / w.sum()
            stays = left > 1 - WIDE(top_p)
            stays[0] = True
            order, w = order[stays], w[stays]
        result[i, order] = (w / w.sum()).astype(np.float64)
    return result


def sample(logits, u, temperature=1.0, top_k=0, top_p=1.0):
    p = probs(logits, temperature, top_k, top_p)
    totals = np.cumsum(p, axis=1)
    answer = []
    for row, total, x in zip(p, totals, u):
        candidates = np.flatnonzero((total > x) & (row > 0))
        fallback = np.flatnonzero(row > 0)
        both = list(candidates[:1]) + list(fallback[-1:]) + [-1]
        answer.append(int(both[0]))
    return np.array(answer, dtype=np.int64)
