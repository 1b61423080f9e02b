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
