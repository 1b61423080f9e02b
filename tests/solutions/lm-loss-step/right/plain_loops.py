"""Style: lists and numbers of Python only; numpy makes the results."""

import math

import numpy as np


def sums(E, U, pieces, pad):
    E, U = E.tolist(), U.tolist()
    V, d = len(E), len(U)
    dE = [[0.0] * d for _ in range(V)]
    dU = [[0.0] * V for _ in range(d)]
    losses, count = [], 0
    for tokens in pieces:
        for row in tokens.tolist():
            for x, y in zip(row, row[1:]):
                if y == pad:
                    continue
                h = E[x]
                z = [math.fsum(h[j] * U[j][v] for j in range(d)) for v in range(V)]
                top = max(z)
                e = [math.exp(value - top) for value in z]
                total = sum(e)
                losses.append(top + math.log(total) - z[y])
                g = [value / total for value in e]
                g[y] -= 1.0
                for j in range(d):
                    dE[x][j] += sum(map(float.__mul__, U[j], g))
                    column, factor = dU[j], h[j]
                    for v in range(V):
                        column[v] += factor * g[v]
                count += 1
    return math.fsum(losses), np.array(dE), np.array(dU), count


def loss_and_grad(E, U, tokens, pad=0):
    loss, dE, dU, count = sums(E, U, [tokens], pad)
    if count == 0:
        return 0.0, dE, dU
    return loss / count, dE / count, dU / count


def step(E, U, pieces, lr, pad=0):
    loss, dE, dU, count = sums(E, U, pieces, pad)
    if count == 0:
        return E.copy(), U.copy(), 0.0
    return E - lr * dE / count, U - lr * dU / count, loss / count


def train(E, U, pieces, lr, accumulate, pad=0):
    losses = []
    i = 0
    while i < len(pieces):
        E, U, loss = step(E, U, pieces[i : i + accumulate], lr, pad)
        losses.append(loss)
        i += accumulate
    return E, U, losses


def rank_gradient(E, U, tokens, counts, pad=0):
    _, dE, dU, _ = sums(E, U, [tokens], pad)
    return dE * len(counts) / sum(counts), dU * len(counts) / sum(counts)
