"""Style: everything is one flat list of predictions first; a generator of chunks; one-hot products."""

import numpy as np


def pairs(pieces, pad):
    x = np.concatenate([p[:, :-1].reshape(-1) for p in pieces])
    y = np.concatenate([p[:, 1:].reshape(-1) for p in pieces])
    return x[y != pad], y[y != pad]


def chunks(x, y, size=20):
    for i in range(0, x.size, size):
        yield x[i : i + size], y[i : i + size]


def totals(E, U, x, y):
    V = E.shape[0]
    L, gE, gU = 0.0, np.zeros(E.shape), np.zeros(U.shape)
    for xs, ys in chunks(x, y):
        z = E[xs] @ U
        m = z.max(1, keepdims=True)
        e = np.exp(z - m)
        s = e.sum(1, keepdims=True)
        L += float((m + np.log(s)).sum() - np.take_along_axis(z, ys[:, None], 1).sum())
        r = e / s - (np.arange(V) == ys[:, None])
        sources = (np.arange(V)[:, None] == xs).astype(float)
        gE += np.einsum("vn,nw,dw->vd", sources, r, U, optimize=True)
        gU += np.einsum("nd,nw->dw", E[xs], r)
    return L, gE, gU


def loss_and_grad(E, U, tokens, pad=0):
    x, y = pairs([tokens], pad)
    n = max(1, y.size)
    L, gE, gU = totals(E, U, x, y)
    return L / n, gE / n, gU / n


def step(E, U, pieces, lr, pad=0):
    x, y = pairs(pieces, pad)
    n = max(1, y.size)
    L, gE, gU = totals(E, U, x, y)
    return E - (lr / n) * gE, U - (lr / n) * gU, L / n


def train(E, U, pieces, lr, accumulate, pad=0):
    groups = [pieces[i : i + accumulate] for i in range(0, len(pieces), accumulate)]
    losses = []
    for group in groups:
        E, U, loss = step(E, U, group, lr, pad)
        losses.append(loss)
    return E, U, np.array(losses)


def rank_gradient(E, U, tokens, counts, pad=0):
    _, gE, gU = totals(E, U, *pairs([tokens], pad))
    return gE / np.mean(counts), gU / np.mean(counts)
