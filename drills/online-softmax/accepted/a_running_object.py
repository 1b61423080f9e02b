"""An object that blocks are added to; merging two of them is one more method."""

from dataclasses import dataclass

import numpy as np


@dataclass
class Running:
    top: np.ndarray
    total: np.ndarray
    sums: np.ndarray

    @classmethod
    def empty(cls, queries, features):
        return cls(np.full(queries, -np.inf), np.zeros(queries), np.zeros((queries, features)))

    @classmethod
    def of(cls, o, lse):
        return cls(lse.copy(), np.where(np.isneginf(lse), 0.0, 1.0), o.copy())

    def raise_to(self, top):
        rises = top > self.top
        factor = np.zeros_like(self.top)
        factor[~rises] = 1
        known = rises & (self.top > -np.inf)
        factor[known] = np.exp(self.top[known] - top[known])
        self.total *= factor
        self.sums *= factor[:, None]
        self.top = np.maximum(top, self.top)

    def add(self, scores, values):
        self.raise_to(scores.max(axis=1))
        alive = self.top > -np.inf
        weights = np.exp(scores[alive] - self.top[alive, None])
        self.total[alive] += weights.sum(axis=1)
        self.sums[alive] += weights @ values

    def join(self, other):
        self.raise_to(other.top)
        other.raise_to(self.top)
        self.total += other.total
        self.sums += other.sums
        return self

    def result(self):
        o, lse = np.zeros_like(self.sums), np.full_like(self.top, -np.inf)
        alive = self.total > 0
        o[alive] = self.sums[alive] / self.total[alive, None]
        lse[alive] = self.top[alive] + np.log(self.total[alive])
        return o, lse


def blocks(q, k, block, mask):
    for first in range(0, len(k), block):
        last = min(first + block, len(k))
        scores = (q / np.sqrt(q.shape[1])) @ k[first:last].T
        if mask is not None:
            scores += np.where(mask[:, first:last], 0.0, -np.inf)
        yield slice(first, last), scores


def attend(q, k, v, block, mask=None):
    running = Running.empty(len(q), v.shape[1])
    for keys, scores in blocks(q, k, block, mask):
        running.add(scores, v[keys])
    return running.result()


def merge(o1, lse1, o2, lse2):
    return Running.of(o1, lse1).join(Running.of(o2, lse2)).result()


def attend_backward(grad_o, q, k, v, o, lse, block, mask=None):
    alive = np.flatnonzero(lse > -np.inf)
    grad_q, grad_k, grad_v = np.zeros(q.shape), np.zeros(k.shape), np.zeros(v.shape)
    g, live_q = grad_o[alive], q[alive]
    dot = (g * o[alive]).sum(1)
    seen = None if mask is None else mask[alive]
    for keys, scores in blocks(live_q, k, block, seen):
        p = np.exp(scores - lse[alive, None])
        ds = (g @ v[keys].T - dot[:, None]) * p / np.sqrt(q.shape[1])
        grad_q[alive] += ds @ k[keys]
        grad_k[keys] += ds.T @ live_q
        grad_v[keys] += p.T @ g
    return grad_q, grad_k, grad_v
