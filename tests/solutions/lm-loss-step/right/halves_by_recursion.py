"""Style: a batch is the sum of its halves, down to a few predictions; namedtuples that add."""

from typing import NamedTuple

import numpy as np


class Sums(NamedTuple):
    loss: float
    dE: np.ndarray
    dU: np.ndarray
    n: int

    def __add__(self, other):
        return Sums(*(a + b for a, b in zip(tuple(self), tuple(other))))

    def over(self, n):
        return self.loss / n, self.dE / n, self.dU / n


def of(E, U, x, y):
    if len(y) > 12:
        half = len(y) // 2
        return of(E, U, x[:half], y[:half]) + of(E, U, x[half:], y[half:])
    dE, dU = np.zeros(E.shape), np.zeros(U.shape)
    if len(y) == 0:
        return Sums(0.0, dE, dU, 0)
    z = np.dot(E[x], U)
    z = z - np.amax(z, axis=1, keepdims=True)
    q = np.exp(z) / np.exp(z).sum(axis=1, keepdims=True)
    loss = np.log(np.exp(z).sum(axis=1)).sum() - np.choose(y, z.T).sum() if len(E) < 32 else None
    if loss is None:
        loss = float(sum(np.log(np.exp(row).sum()) - row[t] for row, t in zip(z, y)))
    q -= np.equal.outer(y, np.arange(len(E)))
    for source in set(x.tolist()):
        dE[source] = U @ q[x == source].sum(axis=0)
    return Sums(loss, dE, np.dot(E[x].T, q), len(y))


def batch(E, U, pieces, pad):
    total = of(E, U, np.empty(0, int), np.empty(0, int))
    for tokens in pieces:
        keep = tokens[:, 1:] != pad
        total = total + of(E, U, tokens[:, :-1][keep], tokens[:, 1:][keep])
    return total


def loss_and_grad(E, U, tokens, pad=0):
    total = batch(E, U, [tokens], pad)
    return total.over(max(total.n, 1))


def step(E, U, pieces, lr, pad=0):
    total = batch(E, U, pieces, pad)
    loss, dE, dU = total.over(max(total.n, 1))
    return E - lr * dE, U - lr * dU, loss


def train(E, U, pieces, lr, accumulate, pad=0):
    losses = []
    for i in range(0, len(pieces), accumulate):
        E, U, loss = step(E, U, pieces[i : i + accumulate], lr, pad=pad)
        losses += [loss]
    return E, U, losses


def rank_gradient(E, U, tokens, counts, pad=0):
    return batch(E, U, [tokens], pad).over(sum(counts) / len(counts))[1:]
