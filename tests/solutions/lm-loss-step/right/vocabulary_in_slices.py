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
