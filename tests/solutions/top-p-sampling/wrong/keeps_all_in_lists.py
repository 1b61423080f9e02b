"""Wrong: lists of pairs for the whole batch are alive at once, in part 3 too."""

import math

import numpy as np


def probs(logits, temperature=1.0, top_k=0, top_p=1.0):
    batch = [sorted((-value, i) for i, value in enumerate(row)) for row in logits.tolist()]
    result = np.zeros(logits.shape)
    for out, pairs in zip(result, batch):
        pairs = [pair for pair in pairs if pair[0] < math.inf]
        pairs = pairs[: 1 if temperature == 0 else top_k or None]
        if not pairs:
            continue
        best, scale = pairs[0][0], temperature or 1.0
        weights = [math.exp((best - value) / scale) for value, _ in pairs]
        goal = math.inf if top_p == 1 else top_p * sum(weights)
        total, n = 0.0, 0
        while n < len(weights) and total < goal:
            total += weights[n]
            n += 1
        for weight, (_, token) in zip(weights[:n], pairs):
            out[token] = weight / total
    return result


def sample(logits, u, temperature=1.0, top_k=0, top_p=1.0):
    drawn = []
    for row, number in zip(probs(logits, temperature, top_k, top_p), u):
        total, token = 0.0, -1
        for i in np.flatnonzero(row):
            total, token = total + row[i], i
            if total > number:
                break
        drawn.append(token)
    return np.array(drawn, dtype=np.int64)
