"""Wrong: tokens that occur more than once as inputs are averaged in dE."""

import numpy as np


def followers(pieces, pad):
    found = {}
    for tokens in pieces:
        for x, y in zip(tokens[:, :-1].flat, tokens[:, 1:].flat):
            if y != pad:
                found.setdefault(int(x), []).append(int(y))
    return found


def sums(E, U, pieces, pad):
    loss, count = 0.0, 0
    dE, dU = np.zeros_like(E), np.zeros_like(U)
    for x, ys in followers(pieces, pad).items():
        often = np.bincount(ys, minlength=len(E))
        z = E[x] @ U
        z = z - z.max()
        log_total = np.log(np.exp(z).sum())
        loss += often @ (log_total - z)
        g = often.sum() * np.exp(z - log_total) - often
        dE[x] = U @ g / len(ys)
        dU += np.outer(E[x], g)
        count += len(ys)
    return loss, dE, dU, count


def mean(loss, dE, dU, count):
    if count == 0:
        return 0.0, dE, dU
    return loss / count, dE / count, dU / count


def loss_and_grad(E, U, tokens, pad=0):
    return mean(*sums(E, U, [tokens], pad))


def step(E, U, pieces, lr, pad=0):
    loss, dE, dU = mean(*sums(E, U, pieces, pad))
    return E - lr * dE, U - lr * dU, loss


def train(E, U, pieces, lr, accumulate, pad=0):
    losses, waiting = [], list(pieces)
    while waiting:
        E, U, loss = step(E, U, waiting[:accumulate], lr, pad)
        waiting = waiting[accumulate:]
        losses.append(loss)
    return E, U, losses


def rank_gradient(E, U, tokens, counts, pad=0):
    _, dE, dU, own = sums(E, U, [tokens], pad)
    if own == 0:
        return dE, dU
    share = own / sum(counts) * len(counts)
    return share * dE / own, share * dU / own
