"""Style: means of pieces, weighted by their counts, where there are any; NaN never arises."""

import numpy as np

SMALL = 24


def predictions(tokens, pad):
    keep = tokens[:, 1:] != pad
    return tokens[:, :-1][keep], tokens[:, 1:][keep]


def mean_of(E, U, x, y):
    """Loss and gradients of at most SMALL predictions, each with a weight of 1 / len(y)."""
    n = len(y)
    z = E[x] @ U
    z = z - z.max(axis=1, keepdims=True)
    log_p = z - np.log(np.exp(z).sum(axis=1, keepdims=True))
    g = np.exp(log_p)
    g[np.arange(n), y] -= 1
    g /= n
    dE = np.zeros_like(E)
    np.add.at(dE, x, g @ U.T)
    return -log_p[np.arange(n), y].mean(), dE, E[x].T @ g


def mean(E, U, pieces, pad):
    """A running mean: each new part moves it by its share of what has been seen."""
    loss, dE, dU, seen = 0.0, np.zeros_like(E), np.zeros_like(U), 0
    for tokens in pieces:
        x, y = predictions(tokens, pad)
        for i in range(0, len(y), SMALL):
            part = mean_of(E, U, x[i : i + SMALL], y[i : i + SMALL])
            size = len(y[i : i + SMALL])
            seen += size
            share = size / seen
            loss += share * (part[0] - loss)
            dE += share * (part[1] - dE)
            dU += share * (part[2] - dU)
    return loss, dE, dU, seen


def loss_and_grad(E, U, tokens, pad=0):
    return mean(E, U, [tokens], pad)[:3]


def step(E, U, pieces, lr, pad=0):
    loss, dE, dU, _ = mean(E, U, pieces, pad)
    return E - lr * dE, U - lr * dU, loss


def train(E, U, pieces, lr, accumulate, pad=0):
    losses = []
    for i in range(0, len(pieces), accumulate):
        E, U, loss = step(E, U, pieces[i : i + accumulate], lr, pad)
        losses.append(loss)
    return E, U, losses


def rank_gradient(E, U, tokens, counts, pad=0):
    _, dE, dU, own = mean(E, U, [tokens], pad)
    return dE * own * len(counts) / sum(counts), dU * own * len(counts) / sum(counts)
