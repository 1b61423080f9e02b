"""No sort: the best token is taken out again and again, until there are k, or enough for top_p.

Without top_k and top_p nothing is taken out at all.
"""

import numpy as np


def probs(logits, temperature=1.0, top_k=0, top_p=1.0):
    return np.concatenate([distribution(row, temperature, top_k, top_p)[None] for row in logits])


def distribution(row, temperature, top_k, top_p):
    allowed = np.count_nonzero(row > -np.inf)
    if allowed == 0:
        return np.zeros(len(row))
    if temperature == 0:
        top_k, temperature = 1, 1.0
    k = min(top_k, allowed) if top_k else allowed
    if k == allowed and top_p == 1:
        weights = np.exp((row - row.max()) / temperature)
        return weights / weights.sum()
    left = np.array(row)
    taken = []
    for _ in range(k):
        token = left.argmax()  # the first of equals
        taken.append(token)
        left[token] = -np.inf
    weights = np.exp((row[taken] - row[taken[0]]) / temperature)
    goal = top_p * weights.sum()
    n, mass = 0, 0.0
    while n < k and (top_p == 1 or mass < goal):
        mass += weights[n]
        n += 1
    out = np.zeros(len(row))
    out[taken[:n]] = weights[:n] / mass
    return out


def sample(logits, u, temperature=1.0, top_k=0, top_p=1.0):
    def pick(row, number):
        tokens = np.flatnonzero(row)
        if tokens.size == 0:
            return -1
        total = 0.0
        for token in tokens[:-1]:
            total += row[token]
            if total > number:
                return token
        return tokens[-1]

    p = probs(logits, temperature=temperature, top_k=top_k, top_p=top_p)
    return np.fromiter(map(pick, p, u), dtype=np.int64, count=len(p))
