"""A classifier of one hidden layer with dropout, trained in batches that come in pieces.

Dropout is that of Srivastava and others, "Dropout: a simple way to prevent neural networks from
overfitting", 2014, in its inverted form: what is kept is divided by the share that is kept.
"""

import numpy as np
import task

BATCH, PIECE = 64, 20  # rows of a step, and rows that fit into memory
EPOCHS = 8
RATE, DROP = 0.15, 0.6


def batches(x, y, rng):
    """Return the batches of one pass over the rows, each a list of pieces (x, y).

    Args:
        x: array (rows, inputs).
        y: array (rows,) of classes.
        rng: from which the order is drawn.
    """
    order = rng.permutation(len(x))
    return [_cut(x, y, order[first : first + BATCH]) for first in range(0, len(x), BATCH)]


def step(params, pieces, rng, drop=DROP, lr=RATE):
    """Return the weights after a step of gradient descent on the mean loss, and that loss.

    Args:
        params: the weights, as `task.start` returns them, of any sizes.
        pieces: a list of (x, y), the rows of one batch.
        rng: from which dropped units are drawn.
        drop: the probability that a hidden unit of a row is dropped, in [0, 1).
        lr: the learning rate.
    """
    losses, gradients = zip(*[_sums(params, x, y, rng, drop) for x, y in pieces], strict=True)
    rows = sum(len(y) for _, y in pieces)
    new = {name: p - lr * sum(g[name] for g in gradients) / rows for name, p in params.items()}
    return new, sum(losses) / rows


def evaluate(params, x, y, rng):  # noqa: ARG001
    """Return the share of rows whose largest logit is that of their class."""
    return float(np.mean(_logits(params, _hidden(params, x)).argmax(axis=1) == y))


def train(seed):
    """Train, and return the mean loss of the steps and the held-out accuracy of each epoch."""
    rng = np.random.default_rng(seed)
    x, y, x_held, y_held = task.rows(seed)
    params = task.start(rng)
    history = {"loss": [], "accuracy": []}
    for _ in range(EPOCHS):
        losses = []
        for pieces in batches(x, y, rng):
            params, loss = step(params, pieces, rng)
            losses.append(loss)
        history["loss"].append(float(np.mean(losses)))
        history["accuracy"].append(evaluate(params, x_held, y_held, rng))
    return history


def causes():
    """Return the ids of what was wrong with the script as it came."""
    return ["labels", "pieces", "evaluation"]


def _cut(x, y, which):
    """Return some rows in pieces that fit into memory."""
    pieces = [which[first : first + PIECE] for first in range(0, len(which), PIECE)]
    return [(x[rows], y[rows]) for rows in pieces]


def _hidden(params, x):
    return np.maximum(x @ params["w1"] + params["b1"], 0)


def _logits(params, hidden):
    return hidden @ params["w2"] + params["b2"]


def _mask(shape, rng, drop):
    """Return 0 where a unit is dropped, else the factor that makes up for those that are."""
    return (rng.random(shape) >= drop) / (1 - drop)


def _sums(params, x, y, rng, drop):
    """Return the sums over the rows of a piece: of the losses, and of the gradients by name."""
    hidden = _hidden(params, x)
    mask = _mask(hidden.shape, rng, drop)
    logits = _logits(params, hidden * mask)
    log_p = logits - np.logaddexp.reduce(logits, axis=1, keepdims=True)
    rows = np.arange(len(y))
    grad = np.exp(log_p)
    grad[rows, y] -= 1
    grad_hidden = grad @ params["w2"].T * mask * (hidden > 0)
    return -log_p[rows, y].sum(), {
        "w1": x.T @ grad_hidden,
        "b1": grad_hidden.sum(axis=0),
        "w2": (hidden * mask).T @ grad,
        "b2": grad.sum(axis=0),
    }
