"""Style: a model's inference script: totals less the token itself, on a descending sort."""

import numpy as np


def sample_top_p(p, top_p):
    probs_idx = np.argsort(-p, axis=-1)
    probs_sort = np.take_along_axis(p, probs_idx, axis=-1)
    probs_sum = np.cumsum(probs_sort, axis=-1)
    mask = probs_sum - probs_sort > top_p
    probs_sort[mask] = 0.0
    probs_sort /= probs_sort.sum(axis=-1, keepdims=True)
    out = np.empty_like(probs_sort)
    np.put_along_axis(out, probs_idx, probs_sort, axis=-1)
    return out


def probs(logits, temperature=1.0, top_k=0, top_p=1.0):
    logits = logits / temperature
    if top_k > 0:
        v = -np.sort(-logits, axis=-1)[:, : min(top_k, logits.shape[-1])]
        logits[logits < v[:, [-1]]] = -float("Inf")
    p = np.exp(logits - np.max(logits, axis=-1, keepdims=True))
    p /= p.sum(axis=-1, keepdims=True)
    return sample_top_p(p, top_p)


def sample(logits, u, temperature=1.0, top_k=0, top_p=1.0):
    tokens = []
    for row, coin in zip(probs(logits, temperature, top_k, top_p), u):
        cdf = 0.0
        for i in range(len(row)):
            cdf += row[i]
            if coin < cdf:
                tokens.append(i)
                break
        else:
            tokens.append(len(row) - 1)
    return np.array(tokens)
