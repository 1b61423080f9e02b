# %% closures
"""Style: closures for the settings, functional all through; probabilities for sample are compact."""

import numpy as np


def make(temperature, top_k, top_p):
    def order(row):
        ranked = np.argsort(np.negative(row), kind="mergesort")
        allowed = int((row != float("-inf")).sum())
        ends = [allowed, 1 if temperature == 0 else allowed, top_k if top_k else allowed]
        return ranked[: min(ends)]

    def weigh(values):
        if temperature == 0:
            return np.ones(len(values))
        return np.exp(values / temperature - values.max(initial=-np.inf) / temperature)

    def cut(weights):
        if top_p == 1 or not len(weights):
            return weights
        totals = np.cumsum(weights)
        return weights[: np.searchsorted(totals, top_p * totals[-1]) + 1]

    def compact(row):
        tokens = order(row)
        kept = cut(weigh(row[tokens]))
        return tokens[: len(kept)], kept / max(kept.sum(), 1e-300)

    return compact


def probs(logits, temperature=1.0, top_k=0, top_p=1.0):
    compact = make(temperature, top_k, top_p)
    full = np.zeros(logits.shape, logits.dtype)
    for i, row in enumerate(logits):
        tokens, shares = compact(row)
        full[i, tokens] = shares
    return full


def sample(logits, u, temperature=1.0, top_k=0, top_p=1.0):
    compact = make(temperature, top_k, top_p)
    drawn = np.full(logits.shape[0], -1, np.int64)
    for i, row in enumerate(logits):
        tokens, shares = compact(row)
        by_index = np.argsort(tokens)
        tokens, totals = tokens[by_index], np.cumsum(shares[by_index])
        if len(tokens):
            drawn[i] = tokens[min(int((totals <= u[i]).sum()), len(tokens) - 1)]
    return drawn


# %% generators
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


# %% long_double
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


# %% plain_loops
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


# %% style_a
"""Style: that of equal_shares and others, repaired."""

import numpy as np


def ranked(row, k):
    order = np.argsort(-row, kind="stable")[: np.count_nonzero(row > -np.inf)]
    return order[:k] if k else order


def softmax(z):
    e = np.exp(z - z.max())
    return e / e.sum()


def distribution(row, temperature, k, top_p):
    out = np.zeros(len(row))
    order = ranked(row, k)
    if len(order) == 0:
        return out
    if temperature == 0:
        out[order[0]] = 1
        return out
    p = softmax(row[order] / temperature)
    if top_p < 1:
        before = np.concatenate([[0.0], np.cumsum(p)[:-1]])
        p = np.where(before < top_p, p, 0)
    out[order] = p / p.sum()
    return out


def probs(logits, temperature=1.0, top_k=0, top_p=1.0):
    return np.stack([distribution(row, temperature, top_k, top_p) for row in logits])


def draw(p, u):
    tokens = np.flatnonzero(p)
    if len(tokens) == 0:
        return -1
    return min(np.searchsorted(np.cumsum(p), u, side="right"), tokens[-1])


def sample(logits, u, temperature=1.0, top_k=0, top_p=1.0):
    p = probs(logits, temperature, top_k, top_p)
    return np.array([draw(row, x) for row, x in zip(p, u)], dtype=np.int64)
