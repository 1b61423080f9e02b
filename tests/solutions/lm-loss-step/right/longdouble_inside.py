"""Style: all sums in extended precision, rounded to float64 at the end."""

import numpy as np

WIDE = np.longdouble


def sums(E, U, pieces, pad):
    E, U = E.astype(WIDE), U.astype(WIDE)
    loss, dE, dU, n = WIDE(0), np.zeros(E.shape, WIDE), np.zeros(U.shape, WIDE), 0
    for tokens in pieces:
        for row in tokens:
            x, y = row[:-1], row[1:]
            x, y = x[y != pad], y[y != pad]
            for i in range(0, len(y), 8):
                a, b = x[i : i + 8], y[i : i + 8]
                z = E[a] @ U
                z -= z.max(axis=1, keepdims=True)
                e = np.exp(z)
                s = e.sum(axis=1, keepdims=True)
                at = np.arange(len(b)), b
                loss += (np.log(s[:, 0]) - z[at]).sum()
                e /= s
                e[at] -= 1
                np.add.at(dE, a, e @ U.T)
                dU += E[a].T @ e
            n += len(y)
    return loss, dE, dU, n


def narrow(*arrays):
    return tuple(np.asarray(a, dtype=np.float64) for a in arrays)


def loss_and_grad(E, U, tokens, pad=0):
    loss, dE, dU, n = sums(E, U, [tokens], pad)
    n = max(n, 1)
    return narrow(loss / n, dE / n, dU / n)


def step(E, U, pieces, lr, pad=0):
    loss, dE, dU, n = sums(E, U, pieces, pad)
    n = max(n, 1)
    return narrow(E - lr * dE / n, U - lr * dU / n, loss / n)


def train(E, U, pieces, lr, accumulate, pad=0):
    losses = []
    for i in range(0, len(pieces), accumulate):
        E, U, loss = step(E, U, pieces[i : i + accumulate], lr, pad)
        losses.append(float(loss))
    return E, U, losses


def rank_gradient(E, U, tokens, counts, pad=0):
    _, dE, dU, _ = sums(E, U, [tokens], pad)
    scale = WIDE(len(counts)) / sum(counts)
    return narrow(scale * dE, scale * dU)
