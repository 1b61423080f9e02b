"""Style: a generator gives the gradient of the logits row by row; dE by sorting and reduceat."""

import numpy as np


def rows_of(tokens, pad):
    for b in range(tokens.shape[0]):
        length = 1 + int(np.count_nonzero(tokens[b, 1:] != pad))
        if length > 1:
            yield tokens[b, : length - 1], tokens[b, 1:length]


def gathered(x, g, V):
    out = np.zeros((V, g.shape[1]))
    order = np.argsort(x, kind="stable")
    values, first = np.unique(x[order], return_index=True)
    out[values] = np.add.reduceat(g[order], first, axis=0)
    return out


def raw(E, U, pieces, pad):
    V = len(E)
    loss, gE, gU, n = 0.0, np.zeros_like(E), np.zeros_like(U), 0
    for tokens in pieces:
        for x, y in rows_of(tokens, pad):
            z = np.matmul(E[x], U)
            top = np.max(z, axis=1)
            lse = top + np.log(np.sum(np.exp(z - top[:, None]), axis=1))
            loss = loss + np.sum(lse - z[np.arange(len(y)), y])
            g = np.exp(z - lse[:, None]) - (y[:, None] == np.arange(V))
            gE = gE + gathered(x, g @ np.transpose(U), V)
            gU = gU + np.transpose(E[x]) @ g
            n = n + len(y)
    return loss, gE, gU, n


def loss_and_grad(E, U, tokens, pad=0):
    loss, gE, gU, n = raw(E, U, (tokens,), pad)
    scale = 1 / n if n else 0.0
    return loss * scale, gE * scale, gU * scale


def step(E, U, pieces, lr, pad=0):
    loss, gE, gU, n = raw(E, U, pieces, pad)
    scale = 1 / n if n else 0.0
    return E - lr * scale * gE, U - lr * scale * gU, loss * scale


def train(E, U, pieces, lr, accumulate, pad=0):
    if len(pieces) == 0:
        return E, U, []
    E, U, loss = step(E, U, pieces[:accumulate], lr, pad)
    E, U, losses = train(E, U, pieces[accumulate:], lr, accumulate, pad)
    return E, U, [loss, *losses]


def rank_gradient(E, U, tokens, counts, pad=0):
    _, gE, gU, _ = raw(E, U, (tokens,), pad)
    mean_count = sum(counts) / len(counts)
    return gE / mean_count, gU / mean_count
