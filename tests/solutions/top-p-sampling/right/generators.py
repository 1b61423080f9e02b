"""Style: generators and itertools; a table of (share, token) pairs is cut from the front."""

from itertools import accumulate, takewhile

import numpy as np


def pairs(row, temperature, top_k):
    def key(token):
        return (-row[token], token)

    def tokens():
        if temperature == 0:
            top = int(np.argmax(row))
            return [top] if np.isfinite(row[top]) else []
        possible = np.flatnonzero(np.isfinite(row))
        if 0 < top_k < possible.size:
            kth = np.sort(row[possible])[possible.size - top_k]
            possible = possible[row[possible] >= kth]
        return sorted(possible.tolist(), key=key)[: top_k or None]

    chosen = tokens()
    if chosen:
        z = (row[chosen] - row[chosen[0]]) / (temperature or 1.0)
        yield from zip(np.exp(z) / np.exp(z).sum(), chosen)


def cut(table, top_p):
    table = list(table)
    if top_p >= 1:
        return table
    totals = accumulate((share for share, _ in table), initial=0.0)
    return [pair for _, pair in takewhile(lambda tp: tp[0] < top_p, zip(totals, table))]


def probs(logits, temperature=1.0, top_k=0, top_p=1.0):
    out = np.zeros_like(logits)
    for row, target in zip(logits, out):
        kept = cut(pairs(row, temperature, top_k), top_p)
        scale = sum(share for share, _ in kept)
        for share, token in kept:
            target[token] = share / scale
    return out


def sample(logits, u, temperature=1.0, top_k=0, top_p=1.0):
    def one(row, number):
        last = -1
        for token, total in zip(np.flatnonzero(row), accumulate(row[row > 0])):
            last = int(token)
            if total > number:
                return last
        return last

    p = probs(logits, temperature, top_k, top_p)
    return np.asarray([one(row, number) for row, number in zip(p, u)], dtype="int64")
