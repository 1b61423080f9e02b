"""Wrong: padding has no logit, so the other probabilities are too high."""

import numpy as np


def together(pieces, pad):
    width = max(tokens.shape[1] for tokens in pieces)
    rows = sum(tokens.shape[0] for tokens in pieces)
    out = np.full((rows, width), pad, dtype=np.int64)
    at = 0
    for tokens in pieces:
        out[at : at + len(tokens), : tokens.shape[1]] = tokens
        at += len(tokens)
    return out


def sums(E, U, tokens, pad):
    dE, dU, loss, n = 0 * E, 0 * U, 0.0, 0
    for row in tokens:
        targets = row[1:]
        mask = np.not_equal(targets, pad)
        if not mask.any():
            continue
        h = np.take(E, row[:-1], axis=0)[mask]
        z = h.dot(U)
        z[:, pad] = -np.inf
        biggest = z.max(-1, keepdims=True)
        log_z = biggest + np.log(np.sum(np.exp(z - biggest), -1, keepdims=True))
        picked = np.take_along_axis(z, targets[mask][:, None], -1)
        loss += float(np.sum(log_z - picked))
        g = np.exp(z - log_z)
        np.put_along_axis(
            g, targets[mask][:, None], np.take_along_axis(g, targets[mask][:, None], -1) - 1, -1
        )
        np.add.at(dE, row[:-1][mask], g.dot(U.T))
        dU += h.T.dot(g)
        n += int(mask.sum())
    return loss, dE, dU, n


def loss_and_grad(E, U, tokens, pad=0):
    loss, dE, dU, n = sums(E, U, tokens, pad)
    n = 1 if n == 0 else n
    return loss / n, dE / n, dU / n


def step(E, U, pieces, lr, pad=0):
    loss, dE, dU = loss_and_grad(E, U, together(pieces, pad), pad)
    return E - lr * dE, U - lr * dU, loss


def train(E, U, pieces, lr, accumulate, pad=0):
    losses = []
    for k in range((len(pieces) + accumulate - 1) // accumulate):
        E, U, loss = step(E, U, pieces[k * accumulate : (k + 1) * accumulate], lr, pad)
        losses.append(loss)
    return E, U, losses


def rank_gradient(E, U, tokens, counts, pad=0):
    _, dE, dU, _ = sums(E, U, tokens, pad)
    world, total = len(counts), sum(counts)
    return np.true_divide(dE * world, total), np.true_divide(dU * world, total)
