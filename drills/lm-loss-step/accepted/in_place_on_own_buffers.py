"""Style: one buffer of logits per call, filled again and again with out=; the update on copies."""

import numpy as np

ROWS = 32


class Sums:
    """Own arrays that a call fills."""

    def __init__(self, E, U):
        self.dE, self.dU = np.zeros(E.shape, E.dtype), np.zeros(U.shape, U.dtype)
        self.z = np.empty((ROWS, E.shape[0]), E.dtype)
        self.loss, self.n = 0.0, 0

    def take(self, E, U, x, y):
        z = self.z[: len(x)]
        np.matmul(E[x], U, out=z)
        np.subtract(z, z.max(1)[:, None], out=z)
        self.loss -= z[range(len(y)), y].sum()
        np.exp(z, out=z)
        norm = z.sum(1)
        self.loss += np.log(norm).sum()
        np.divide(z, norm[:, None], out=z)
        z[range(len(y)), y] -= 1
        np.add.at(self.dE, x, z @ U.T)
        self.dU += E[x].T @ z
        self.n += len(y)


def fill(E, U, pieces, pad):
    sums = Sums(E, U)
    for tokens in pieces:
        where = np.argwhere(tokens[:, 1:] != pad)
        for i in range(0, len(where), ROWS):
            b, t = where[i : i + ROWS].T
            sums.take(E, U, tokens[b, t], tokens[b, t + 1])
    return sums


def loss_and_grad(E, U, tokens, pad=0):
    sums = fill(E, U, [tokens], pad)
    if sums.n:
        sums.dE /= sums.n
        sums.dU /= sums.n
        sums.loss /= sums.n
    return float(sums.loss), sums.dE, sums.dU


def step(E, U, pieces, lr, pad=0):
    sums = fill(E, U, pieces, pad)
    E, U = np.array(E), np.array(U)
    if sums.n:
        E -= np.multiply(sums.dE, lr / sums.n, out=sums.dE)
        U -= np.multiply(sums.dU, lr / sums.n, out=sums.dU)
        sums.loss /= sums.n
    return E, U, float(sums.loss)


def train(E, U, pieces, lr, accumulate, pad=0):
    losses = [0.0] * -(-len(pieces) // accumulate)
    for i in range(len(losses)):
        E, U, losses[i] = step(E, U, pieces[accumulate * i : accumulate * (i + 1)], lr, pad)
    return E, U, losses


def rank_gradient(E, U, tokens, counts, pad=0):
    sums = fill(E, U, [tokens], pad)
    total = sum(counts)
    sums.dE *= len(counts) / total
    sums.dU *= len(counts) / total
    return sums.dE, sums.dU
