# %% halves_by_recursion
"""Style: a batch is the sum of its halves, down to a few predictions; namedtuples that add."""

from typing import NamedTuple

import numpy as np


class Sums(NamedTuple):
    loss: float
    dE: np.ndarray
    dU: np.ndarray
    n: int

    def __add__(self, other):
        return Sums(*(a + b for a, b in zip(tuple(self), tuple(other))))

    def over(self, n):
        return self.loss / n, self.dE / n, self.dU / n


def of(E, U, x, y):
    if len(y) > 12:
        half = len(y) // 2
        return of(E, U, x[:half], y[:half]) + of(E, U, x[half:], y[half:])
    dE, dU = np.zeros(E.shape), np.zeros(U.shape)
    if len(y) == 0:
        return Sums(0.0, dE, dU, 0)
    z = np.dot(E[x], U)
    z = z - np.amax(z, axis=1, keepdims=True)
    q = np.exp(z) / np.exp(z).sum(axis=1, keepdims=True)
    loss = np.log(np.exp(z).sum(axis=1)).sum() - np.choose(y, z.T).sum() if len(E) < 32 else None
    if loss is None:
        loss = float(sum(np.log(np.exp(row).sum()) - row[t] for row, t in zip(z, y)))
    q -= np.equal.outer(y, np.arange(len(E)))
    for source in set(x.tolist()):
        dE[source] = U @ q[x == source].sum(axis=0)
    return Sums(loss, dE, np.dot(E[x].T, q), len(y))


def batch(E, U, pieces, pad):
    total = of(E, U, np.empty(0, int), np.empty(0, int))
    for tokens in pieces:
        keep = tokens[:, 1:] != pad
        total = total + of(E, U, tokens[:, :-1][keep], tokens[:, 1:][keep])
    return total


def loss_and_grad(E, U, tokens, pad=0):
    total = batch(E, U, [tokens], pad)
    return total.over(max(total.n, 1))


def step(E, U, pieces, lr, pad=0):
    total = batch(E, U, pieces, pad)
    loss, dE, dU = total.over(max(total.n, 1))
    return E - lr * dE, U - lr * dU, loss


def train(E, U, pieces, lr, accumulate, pad=0):
    losses = []
    for i in range(0, len(pieces), accumulate):
        E, U, loss = step(E, U, pieces[i : i + accumulate], lr, pad=pad)
        losses += [loss]
    return E, U, losses


def rank_gradient(E, U, tokens, counts, pad=0):
    return batch(E, U, [tokens], pad).over(sum(counts) / len(counts))[1:]


# %% longdouble_inside
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


# %% padded_together
"""Style: the pieces become one padded batch; masks by lengths of rows; chunks of rows."""

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


# %% plain_loops
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


# %% repaired_starter
"""Style: the starter with as few changes as a busy person would make."""

import numpy as np


def loss_and_grad(E, U, tokens, pad=0):
    loss, dE, dU, count = sums(E, U, [tokens], pad)
    count = max(count, 1)
    return loss / count, dE / count, dU / count


def sums(E, U, pieces, pad):
    total = [0.0, np.zeros_like(E), np.zeros_like(U), 0]
    for tokens in pieces:
        inputs, labels = next_tokens(tokens)
        for row_inputs, row_labels in zip(inputs, labels):  # a row at a time, for the memory
            result = language_loss(E, U, row_inputs, row_labels, pad)
            total = [a + b for a, b in zip(total, result)]
    return total


def step(E, U, pieces, lr, pad=0):
    loss, dE, dU, count = sums(E, U, pieces, pad)
    count = max(count, 1)
    return E - lr * dE / count, U - lr * dU / count, loss / count


def train(E, U, pieces, lr, accumulate, pad=0):
    losses = []
    for start in range(0, len(pieces), accumulate):
        E, U, loss = step(E, U, pieces[start : start + accumulate], lr, pad)
        losses.append(loss)
    return E, U, losses


def rank_gradient(E, U, tokens, counts, pad=0):
    _, dE, dU, _ = sums(E, U, [tokens], pad)
    return dE / sum(counts) * len(counts), dU / sum(counts) * len(counts)


def next_tokens(tokens):
    return tokens[:, :-1], tokens[:, 1:]


def language_loss(E, U, inputs, labels, pad):
    counted = labels != pad
    inputs, labels = inputs[counted], labels[counted]
    rows = np.arange(len(labels))
    hidden = E[inputs]
    log_p = log_softmax(hidden @ U)
    grad = np.exp(log_p)
    grad[rows, labels] -= 1
    dE = np.zeros_like(E)
    np.add.at(dE, inputs, grad @ U.T)
    return -log_p[rows, labels].sum(), dE, hidden.T @ grad, len(labels)


def log_softmax(z):
    z = z - z.max(axis=1, keepdims=True)
    return z - np.log(np.exp(z).sum(axis=1, keepdims=True))


# %% style_a
"""Style: that of gradient_uphill and others, repaired."""

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
                delta[y] -= 1.0
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


# %% vocabulary_in_slices
"""Another algorithm: all predictions at once, the vocabulary in slices with a running maximum."""

import numpy as np

SLICE = 24


def flat(pieces, pad):
    inputs, targets = [], []
    for tokens in pieces:
        mask = tokens[:, 1:] != pad
        inputs.append(tokens[:, :-1][mask])
        targets.append(tokens[:, 1:][mask])
    return np.concatenate(inputs), np.concatenate(targets)


def sums(E, U, pieces, pad):
    x, y = flat(pieces, pad)
    h = E[x]
    slices = [slice(a, min(a + SLICE, len(E))) for a in range(0, len(E), SLICE)]
    top, total = np.full(len(x), -np.inf), np.zeros(len(x))
    for part in slices:
        z = h @ U[:, part]
        new = np.maximum(top, z.max(axis=1))
        total = total * np.exp(top - new) + np.exp(z - new[:, None]).sum(axis=1)
        top = new
    lse = top + np.log(total)
    dh, dU = np.zeros_like(h), np.zeros_like(U)
    for part in slices:
        g = np.exp(h @ U[:, part] - lse[:, None])
        hit = (y >= part.start) & (y < part.stop)
        g[hit, y[hit] - part.start] -= 1
        dh += g @ U[:, part].T
        dU[:, part] = h.T @ g
    dE = np.zeros_like(E)
    np.add.at(dE, x, dh)
    return (lse - np.einsum("nd,dn->n", h, U[:, y])).sum(), dE, dU, len(x)


def mean(E, U, pieces, pad):
    *results, n = sums(E, U, pieces, pad)
    return [part / max(n, 1) for part in results]


def loss_and_grad(E, U, tokens, pad=0):
    return tuple(mean(E, U, [tokens], pad))


def step(E, U, pieces, lr, pad=0):
    loss, dE, dU = mean(E, U, pieces, pad)
    return E - lr * dE, U - lr * dU, loss


def train(E, U, pieces, lr, accumulate, pad=0):
    losses = []
    for i in range(0, len(pieces), accumulate):
        E, U, loss = step(E, U, pieces[i : i + accumulate], lr, pad)
        losses.append(loss)
    return E, U, losses


def rank_gradient(E, U, tokens, counts, pad=0):
    _, dE, dU, _ = sums(E, U, [tokens], pad)
    return dE * (len(counts) / sum(counts)), dU * (len(counts) / sum(counts))


# %% weighted_means
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
