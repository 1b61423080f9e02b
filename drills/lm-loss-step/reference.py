"""Training a language model of two matrices: loss, gradient, a step in pieces, a rank's share.

The model knows the last token only: the logits of the token after x are E[x] @ U. With the counted
predictions (x, y) of a batch, n of them, and p = softmax(E[x] @ U):

    loss = (1 / n) sum of -log p[y]
    dE   = (1 / n) sum over (x, y) of U (p - onehot(y)), in row x
    dU   = (1 / n) sum over (x, y) of the outer product of E[x] and p - onehot(y)

All three are sums divided by one count, and sums can be added over pieces, chunks and machines. So
everything below is a sum until the very end. Losses are in nats.

Source: the gradient p - onehot(y) of the softmax's logits is in Goodfellow, Bengio and Courville,
"Deep Learning", 2016, section 6.2.2.3.
"""

import numpy as np

CHUNK = 16  # predictions whose logits are alive at once


def loss_and_grad(E, U, tokens, pad=0):
    """Return the mean loss of a batch, and its gradients.

    Args:
        E: (V, d) float64, one row per token.
        U: (d, V) float64.
        tokens: (B, T) int64, rows of text, filled up at the end with pad.
        pad: the token that fills rows up, from 0 to V - 1.

    Returns:
        loss: the mean of -log p over the counted predictions, in nats; 0.0 where there are none.
        dE: (V, d), the gradient of the loss with respect to E.
        dU: (d, V), that with respect to U.
    """
    return _mean(*_sums(E, U, [tokens], pad))


def step(E, U, pieces, lr, pad=0):
    """Return E, U and the loss before the step, of one SGD step on all pieces together.

    Args:
        E: (V, d) float64.
        U: (d, V) float64.
        pieces: a list of (B_i, T_i) int64 arrays.
        lr: the learning rate.
        pad: as in `loss_and_grad`.
    """
    loss, dE, dU = _mean(*_sums(E, U, pieces, pad))
    return E - lr * dE, U - lr * dU, loss


def train(E, U, pieces, lr, accumulate, pad=0):
    """Return E, U and the list of losses after one step for each `accumulate` pieces.

    Args:
        E: (V, d) float64.
        U: (d, V) float64.
        pieces: a list of (B_i, T_i) int64 arrays; what is left over at the end is a group too.
        lr: the learning rate.
        accumulate: how many pieces make a step, at least 1.
        pad: as in `loss_and_grad`.
    """
    losses = []
    for start in range(0, len(pieces), accumulate):
        E, U, loss = step(E, U, pieces[start : start + accumulate], lr, pad)
        losses.append(loss)
    return E, U, losses


def rank_gradient(E, U, tokens, counts, pad=0):
    """Return what one machine hands to an all-reduce that takes the mean over machines.

    Args:
        E: (V, d) float64, the same on all machines.
        U: (d, V) float64, the same on all machines.
        tokens: (B, T) int64, the rows of this machine.
        counts: the numbers of counted predictions of all machines, a list.
        pad: as in `loss_and_grad`.

    Returns:
        dE (V, d) and dU (d, V): the sums of this machine, divided by the mean of counts.
    """
    _, dE, dU, _ = _sums(E, U, [tokens], pad)
    scale = len(counts) / sum(counts)
    return scale * dE, scale * dU


def _shifted(tokens):
    """Return inputs and targets (B, T - 1): position t predicts the token at t + 1."""
    return tokens[:, :-1], tokens[:, 1:]


def _counts(targets, pad):
    """Return whether each prediction counts: its target decides, not its input."""
    return targets != pad


def _predictions(tokens, pad):
    """Return inputs (n,) and targets (n,) of the n counted predictions."""
    inputs, targets = _shifted(tokens)
    counted = _counts(targets, pad)
    return inputs[counted], targets[counted]


def _divisor(tokens, pad):
    """Return what a batch adds to the number by which sums are divided: its counted predictions."""
    return len(_predictions(tokens, pad)[1])


def _sums(E, U, pieces, pad):
    """Return the loss and its gradients, summed over all pieces, and the number to divide by."""
    loss, dE, dU, count = 0.0, np.zeros_like(E), np.zeros_like(U), 0
    for tokens in pieces:
        inputs, targets = _predictions(tokens, pad)
        for start in range(0, len(targets), CHUNK):
            chunk = slice(start, start + CHUNK)
            loss += _add_chunk(E, U, inputs[chunk], targets[chunk], dE, dU)
        count += _divisor(tokens, pad)
    return loss, dE, dU, count


def _mean(loss, dE, dU, count):
    """Return the sums divided by count; sums of nothing, which are zeros, as they are."""
    count = max(count, 1)
    return loss / count, dE / count, dU / count


def _log_softmax(logits):
    """Return the log-probabilities (n, V), in nats, in the memory of logits."""
    logits -= logits.max(axis=1, keepdims=True)
    logits -= np.log(np.exp(logits).sum(axis=1, keepdims=True))
    return logits


def _add_chunk(E, U, inputs, targets, dE, dU):
    """Add the gradients of n predictions to dE and dU; return the sum of their losses."""
    rows = np.arange(len(targets))
    hidden = E[inputs]
    log_p = _log_softmax(hidden @ U)
    loss = -log_p[rows, targets].sum()
    grad = np.exp(log_p, out=log_p)
    grad[rows, targets] -= 1
    _scatter(dE, inputs, grad @ U.T)
    dU += hidden.T @ grad
    return loss


def _scatter(dE, inputs, grad_rows):
    """Add row i of grad_rows (n, d) to row inputs[i] of dE, as often as a token occurs."""
    np.add.at(dE, inputs, grad_rows)
