"""Log-probabilities throughout: filters set minus infinity, as a stack of logits processors does."""

import numpy as np


def probs(logits, temperature=1.0, top_k=0, top_p=1.0):
    return np.stack([np.exp(log_probs(row, temperature, top_k, top_p)) for row in logits])


def log_probs(row, temperature, top_k, top_p):
    scores = row.astype(np.float64)  # a copy
    if temperature == 0:
        top_k = 1
    else:
        scores /= temperature
    for one in (by_rank(row, top_k), by_mass(top_p)):
        normalize(scores)
        one(scores)
    normalize(scores)
    return scores


def normalize(scores):
    top = scores.max()
    if top > -np.inf:
        scores -= top
        scores -= np.log(np.exp(scores).sum())


def by_rank(row, k):
    def keep(scores):
        if not 0 < k < len(row):
            return
        kth = np.partition(row, -k)[-k]
        surplus = np.flatnonzero(row == kth)[k - np.count_nonzero(row > kth) :]
        scores[row < kth] = -np.inf
        scores[surplus] = -np.inf

    return keep


def by_mass(top_p):
    def keep(scores):
        if top_p == 1:
            return
        alive = np.flatnonzero(scores > -np.inf)
        order = alive[np.argsort(-scores[alive], kind="stable")]
        mass = 0.0
        for place, token in enumerate(order):
            if mass >= top_p:
                scores[order[place:]] = -np.inf
                return
            mass += np.exp(scores[token])

    return keep


def sample(logits, u, temperature=1.0, top_k=0, top_p=1.0):
    tokens = np.empty(len(logits), np.int64)
    for i, row in enumerate(probs(logits, temperature, top_k, top_p)):
        possible = np.flatnonzero(row)
        total = np.add.accumulate(row[possible])
        place = np.count_nonzero(total <= u[i])
        tokens[i] = possible[min(place, len(possible) - 1)] if len(possible) else -1
    return tokens
