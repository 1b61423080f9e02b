"""Style: plain Python loops over single entries; the k best are kept in a short sorted list."""

import math

import numpy as np


def ahead(a, b, row):
    """Whether token a is more probable than token b."""
    return row[a] > row[b] or (row[a] == row[b] and a < b)


def best(row, k):
    """The k best tokens, best first, by insertion."""
    found = []
    for token in range(len(row)):
        if row[token] == -math.inf:
            continue
        if len(found) == k and not ahead(token, found[-1], row):
            continue
        place = len(found)
        while place > 0 and ahead(token, found[place - 1], row):
            place -= 1
        found.insert(place, token)
        if len(found) > k:
            found.pop()
    return found


def probs(logits, temperature=1.0, top_k=0, top_p=1.0):
    result = np.zeros(logits.shape)
    for b in range(logits.shape[0]):
        row = logits[b].tolist()
        k = len(row)
        if top_k > 0:
            k = min(k, top_k)
        if temperature == 0:
            k = 1
        tokens = best(row, k)
        weights, total = [], 0.0
        for token in tokens:
            gap = row[token] - row[tokens[0]]
            weight = 1.0 if temperature == 0 else math.exp(gap / temperature)
            weights.append(weight)
            total += weight
        kept, mass = 0, 0.0
        for weight in weights:
            if top_p < 1.0 and mass / total >= top_p:
                break
            mass += weight
            kept += 1
        for i in range(kept):
            result[b, tokens[i]] = weights[i] / mass
    return result


def sample(logits, u, temperature=1.0, top_k=0, top_p=1.0):
    p = probs(logits, temperature, top_k, top_p)
    result = np.zeros(p.shape[0], dtype=np.int64)
    for b in range(p.shape[0]):
        total, token, found = 0.0, -1, False
        for i in range(p.shape[1]):
            if p[b, i] > 0 and not found:
                token = i
                total += p[b, i]
                found = total > u[b]
        result[b] = token
    return result
