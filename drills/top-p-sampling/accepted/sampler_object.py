"""A class holds the settings, and steps in a list turn candidates into fewer candidates."""

from dataclasses import dataclass

import numpy as np


@dataclass
class Candidates:
    tokens: np.ndarray  # in falling order of their logits
    logits: np.ndarray

    def first(self, n):
        return Candidates(self.tokens[:n], self.logits[:n])

    def shares(self):
        e = np.exp(self.logits - self.logits[0])
        return e / e.sum()


class Sampler:
    def __init__(self, temperature, top_k, top_p):
        self.temperature, self.top_k, self.top_p = temperature, top_k, top_p
        self.steps = []
        if temperature == 0:
            self.steps.append(lambda c: c.first(1))
        else:
            self.steps.append(lambda c: Candidates(c.tokens, c.logits / temperature))
        if top_p < 1:
            self.steps.append(self.nucleus)

    def nucleus(self, candidates):
        reached = 0.0
        for n, share in enumerate(candidates.shares(), 1):
            reached += share
            if reached >= self.top_p:
                return candidates.first(n)
        return candidates

    def gather(self, row):
        tokens = np.nonzero(~np.isneginf(row))[0]
        if self.top_k and self.top_k < tokens.size:
            values = row[tokens]
            # argpartition leaves open which of the equal ones it takes, so that they are chosen anew
            kth = values[np.argpartition(-values, self.top_k - 1)[self.top_k - 1]]
            sure = tokens[values > kth]
            open_ = tokens[values == kth][: self.top_k - sure.size]
            tokens = np.sort(np.append(sure, open_))
        return Candidates(tokens, row[tokens])

    def ranked(self, row):
        found = self.gather(row)
        order = np.argsort(-found.logits, kind="stable")
        return Candidates(found.tokens[order], found.logits[order])

    def distribution(self, row):
        p = np.zeros_like(row, subok=False)
        candidates = self.ranked(row)
        if candidates.tokens.size:
            for step in self.steps:
                candidates = step(candidates)
            p[candidates.tokens] = candidates.shares()
        return p

    def draw(self, p, u):
        if not p.any():
            return -1
        token = np.searchsorted(p.cumsum(), u, "right")
        return token if token < p.size and p[token] else p.nonzero()[0][-1]


def probs(logits, temperature=1.0, top_k=0, top_p=1.0):
    sampler = Sampler(temperature, top_k, top_p)
    return np.array([sampler.distribution(np.ascontiguousarray(row)) for row in logits])


def sample(logits, u, temperature=1.0, top_k=0, top_p=1.0):
    sampler = Sampler(temperature, top_k, top_p)
    rows = probs(logits, temperature, top_k, top_p)
    return np.array([sampler.draw(row, number) for row, number in zip(rows, u)], dtype=np.int64)
