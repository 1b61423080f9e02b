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
    results = [loss_and_grad(E, U, tokens, pad) for tokens in pieces]
    loss, dE, dU = (sum(parts) / len(pieces) for parts in zip(*results))
    return E - lr * dE, U - lr * dU, loss


def train(E, U, pieces, lr, accumulate, pad=0):
    """One SGD step for each `accumulate` pieces."""
    losses = []
    for start in range(0, len(pieces), accumulate):
        E, U, loss = step(E, U, pieces[start : start + accumulate], lr, pad)
        losses.append(loss)
    return E, U, losses


def rank_gradient(E, U, tokens, counts, pad=0):
    """The gradient of one machine, for the all-reduce."""
    _, dE, dU = loss_and_grad(E, U, tokens, pad)
    return dE, dU


def next_tokens(tokens):
    """Inputs and labels of a batch: a label is the token that follows."""
    return tokens[:, :-1], tokens[:, 1:]


def language_loss(E, U, inputs, labels, pad):
    """Sum of -log p(next token), its gradients, how many predictions count."""
    # as in the library: the logits of position t belong to the token after it
    inputs, labels = inputs[:, :-1], labels[:, 1:]
    counted = labels != pad
    inputs, labels = inputs[counted], labels[counted]
    rows = np.arange(len(labels))
    hidden = E[inputs]
    log_p = log_softmax(hidden @ U)
    grad = np.exp(log_p)
    grad[rows, labels] -= 1
    dE = np.zeros_like(E)
    np.add.at(dE, inputs, grad @ U.T)  # a token may occur several times
    return -log_p[rows, labels].sum(), dE, hidden.T @ grad, len(labels)


def log_softmax(z):
    """Log-probabilities of each row of logits."""
    z = z - z.max(axis=1, keepdims=True)
    return z - np.log(np.exp(z).sum(axis=1, keepdims=True))
