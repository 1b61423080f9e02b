"""A language model of two matrices and its training step.

The model knows the last token only: the logits of what follows x are E[x] @ U.
"""

import numpy as np


def loss_and_grad(E, U, tokens, pad=0):
    """Mean loss per prediction of a batch of tokens (B, T), with dE and dU."""
    inputs, labels = next_tokens(tokens)
    loss, dE, dU, count = language_loss(E, U, inputs, labels, pad)
    count = max(count, 1)  # a batch may be all padding
    return loss / count, dE / count, dU / count


def step(E, U, pieces, lr, pad=0):
    """One SGD step on a list of batches."""
    # why 2: A mean of means weighs predictions of short pieces more. Sums and counts can be added
    #        over pieces, and are divided once.
    sums = [language_loss(E, U, *next_tokens(tokens), pad) for tokens in pieces]
    loss, dE, dU, count = (sum(parts) for parts in zip(*sums, strict=True))
    count = max(count, 1)
    return E - lr * dE / count, U - lr * dU / count, loss / count


def train(E, U, pieces, lr, accumulate, pad=0):
    """One SGD step for each `accumulate` pieces."""
    losses = []
    for start in range(0, len(pieces), accumulate):
        E, U, loss = step(E, U, pieces[start : start + accumulate], lr, pad)
        losses.append(loss)
    return E, U, losses


def rank_gradient(E, U, tokens, counts, pad=0):
    """The gradient of one machine, for the all-reduce."""
    # why 3: The all-reduce divides by the number of machines and not by the total count, so the sum
    #        of this machine is multiplied by the one and divided by the other.
    _, dE, dU, _ = language_loss(E, U, *next_tokens(tokens), pad)
    return dE * len(counts) / sum(counts), dU * len(counts) / sum(counts)


def next_tokens(tokens):
    """Inputs and labels of a batch: a label is the token that follows."""
    return tokens[:, :-1], tokens[:, 1:]


def language_loss(E, U, inputs, labels, pad):
    """Sum of -log p(next token), its gradients, how many predictions count."""
    # why: next_tokens has shifted already; shifted again, a token predicts the second after it.
    counted = labels != pad
    inputs, labels = inputs[counted], labels[counted]
    # why 3: All three results are sums over predictions, so 16 at a time give the same, and only
    #        their logits are alive.
    loss, dE, dU = 0.0, np.zeros_like(E), np.zeros_like(U)
    for start in range(0, len(labels), 16):
        x, y = inputs[start : start + 16], labels[start : start + 16]
        rows = np.arange(len(y))
        hidden = E[x]
        log_p = log_softmax(hidden @ U)
        grad = np.exp(log_p)
        grad[rows, y] -= 1
        np.add.at(dE, x, grad @ U.T)  # a token may occur several times
        dU += hidden.T @ grad
        loss -= log_p[rows, y].sum()
    return loss, dE, dU, len(labels)


def log_softmax(z):
    """Log-probabilities of each row of logits."""
    z = z - z.max(axis=1, keepdims=True)
    return z - np.log(np.exp(z).sum(axis=1, keepdims=True))
