"""Style: functions that return functions, reduce in place of loops, masks as weights."""

from functools import reduce
from itertools import islice

import numpy as np


def adder(E, U, pad):
    def add(total, row):
        x, y = row[:-1], row[1:]
        weight = (y != pad).astype(E.dtype)
        z = E[x] @ U
        log_p = z - np.logaddexp.reduce(z, axis=-1, keepdims=True, initial=-np.inf)
        here = (np.arange(len(y)), y)
        g = np.exp(log_p)
        g[here] -= 1
        g *= weight[:, None]
        dE = np.stack(
            [np.bincount(x, column, minlength=len(E)) for column in (g @ U.T).T], axis=1
        )
        parts = (-(weight * log_p[here]).sum(), dE, E[x].T @ g, weight.sum())
        return tuple(a + b for a, b in zip(total, parts))

    return add


def batch(E, U, pieces, pad):
    rows = (row for tokens in pieces for row in tokens)
    nothing = (0.0, np.zeros(E.shape), np.zeros(U.shape), 0.0)
    return reduce(adder(E, U, pad), rows, nothing)


def over(count):
    return (lambda a: a / count) if count > 0 else (lambda a: a * 0.0)


def loss_and_grad(E, U, tokens, pad=0):
    *sums, count = batch(E, U, [tokens], pad)
    return tuple(map(over(count), sums))


def step(E, U, pieces, lr, pad=0):
    *sums, count = batch(E, U, pieces, pad)
    loss, dE, dU = map(over(count), sums)
    return E - lr * dE, U - lr * dU, loss


def train(E, U, pieces, lr, accumulate, pad=0):
    source, losses = iter(pieces), []
    while group := list(islice(source, accumulate)):
        E, U, loss = step(E, U, group, lr, pad)
        losses.append(loss)
    return E, U, losses


def rank_gradient(E, U, tokens, counts, pad=0):
    _, dE, dU, _ = batch(E, U, [tokens], pad)
    return tuple(len(counts) / sum(counts) * part for part in (dE, dU))
