"""Python's heap finds the k best (it prefers the first of equals), and a loop finds the nucleus."""

import heapq
import math

import numpy as np


def probs(logits, temperature=1.0, top_k=0, top_p=1.0):
    p = np.zeros(logits.shape)
    for row, out in zip(logits, p):
        values = row.tolist()
        if temperature == 0:
            wanted = 1
        else:
            wanted = top_k or len(values)
        best = heapq.nsmallest(wanted, range(len(values)), key=lambda i: -values[i])
        best = [i for i in best if values[i] > -math.inf]
        if not best:
            continue
        scale = temperature or 1.0
        weights = [math.exp((values[i] - values[best[0]]) / scale) for i in best]
        reach = math.inf if top_p == 1 else top_p * math.fsum(weights)
        kept, total = [], 0.0
        for token, weight in zip(best, weights):
            if total >= reach:
                break
            kept.append((token, weight))
            total += weight
        total = math.fsum(w for _, w in kept)
        for token, weight in kept:
            out[token] = weight / total
    return p


def sample(logits, u, temperature=1.0, top_k=0, top_p=1.0):
    drawn = []
    for row, number in zip(probs(logits, temperature, top_k, top_p).tolist(), u.tolist()):
        total, token = 0.0, -1
        for i, share in enumerate(row):
            if share > 0:
                token, total = i, total + share
                if total > number:
                    break
        drawn.append(token)
    return np.array(drawn, dtype=np.int64)
