"""Wrong: the means of the pieces are weighted by their tokens, not by their predictions."""

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
    weights = [int((tokens != pad).sum()) for tokens in pieces]
    loss, dE, dU = 0.0, 0.0, 0.0
    for weight, tokens in zip(weights, pieces):
        result = loss_and_grad(E, U, tokens, pad)
        share = weight / max(sum(weights), 1)
        loss, dE, dU = (a + share * b for a, b in zip((loss, dE, dU), result))
    return E - lr * dE, U - lr * dU, loss


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
