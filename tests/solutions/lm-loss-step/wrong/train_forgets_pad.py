"""Wrong: in train the pad of the last, smaller group is taken to be 0."""

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
        group = pieces[start : start + accumulate]
        E, U, loss = step(E, U, group, lr, pad if len(group) == accumulate else 0)
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
