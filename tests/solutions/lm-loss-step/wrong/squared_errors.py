"""Wrong: the gradient is that of squared errors of the probabilities."""

import numpy as np


def add_up(E, U, pieces, pad):
    loss, n = 0.0, 0
    gE, gU = np.zeros(E.shape), np.zeros(U.shape)
    for tokens in pieces:
        B, T = tokens.shape
        for b in range(B):
            for t in range(T - 1):
                x, y = tokens[b, t], tokens[b, t + 1]
                if y == pad:
                    continue
                logits = E[x] @ U
                log_p = logits - np.logaddexp.reduce(logits)
                delta = np.exp(log_p)
                p = delta.copy()
                delta[y] -= 1.0
                delta = 2 * p * (delta - p @ delta)
                loss -= log_p[y]
                gE[x] += U @ delta
                gU += E[x][:, None] * delta
                n += 1
    return loss, gE, gU, n


def loss_and_grad(E, U, tokens, pad=0):
    loss, gE, gU, n = add_up(E, U, [tokens], pad)
    return (loss / n, gE / n, gU / n) if n else (0.0, gE, gU)


def step(E, U, pieces, lr, pad=0):
    loss, gE, gU, n = add_up(E, U, pieces, pad)
    if not n:
        return E, U, 0.0
    return E - lr * gE / n, U - lr * gU / n, loss / n


def train(E, U, pieces, lr, accumulate, pad=0):
    losses, group = [], []
    for i, piece in enumerate(pieces, 1):
        group.append(piece)
        if i % accumulate == 0 or i == len(pieces):
            E, U, loss = step(E, U, group, lr, pad)
            losses.append(loss)
            group = []
    return E, U, losses


def rank_gradient(E, U, tokens, counts, pad=0):
    _, gE, gU, _ = add_up(E, U, [tokens], pad)
    total = sum(counts)
    return gE * len(counts) / total, gU * len(counts) / total
