# %% plain_loops
"""Batches are made by plain loops over row numbers, row by row."""

import numpy as np
import task

BATCH, PIECE = 64, 20
EPOCHS = 8
RATE, DROP = 0.15, 0.6


def batches(x, y, rng):
    found, left = [], [int(n) for n in rng.permutation(len(x))]
    while left:
        batch, left = left[:BATCH], left[BATCH:]
        pieces = []
        while batch:
            piece, batch = batch[:PIECE], batch[PIECE:]
            pieces.append((np.array([x[n] for n in piece]), np.array([y[n] for n in piece])))
        found.append(pieces)
    return found


def forward(params, x, rng, drop=DROP):
    hidden = np.maximum(x @ params["w1"] + params["b1"], 0)
    mask = (rng.random(hidden.shape) >= drop) / (1 - drop)
    return (hidden * mask) @ params["w2"] + params["b2"], hidden, mask


def step(params, pieces, rng, drop=DROP, lr=RATE):
    rows = sum(len(y) for _, y in pieces)
    loss = 0.0
    grads = {name: np.zeros_like(p) for name, p in params.items()}
    for x, y in pieces:
        logits, hidden, mask = forward(params, x, rng, drop)
        logits = logits - logits.max(axis=1, keepdims=True)
        log_p = logits - np.log(np.exp(logits).sum(axis=1, keepdims=True))
        here = np.arange(len(y))
        loss -= log_p[here, y].sum() / rows
        grad = np.exp(log_p)
        grad[here, y] -= 1
        grad /= rows
        grad_hidden = grad @ params["w2"].T * mask * (hidden > 0)
        grads["w2"] += (hidden * mask).T @ grad
        grads["b2"] += grad.sum(axis=0)
        grads["w1"] += x.T @ grad_hidden
        grads["b1"] += grad_hidden.sum(axis=0)
    return {name: p - lr * grads[name] for name, p in params.items()}, loss


def evaluate(params, x, y, rng):  # rng stays as it is
    hidden = np.maximum(x @ params["w1"] + params["b1"], 0)
    logits = hidden @ params["w2"] + params["b2"]
    right = 0
    for row, label in zip(logits, y, strict=True):
        right += int(max(range(len(row)), key=lambda c: row[c]) == label)
    return right / len(y)


def train(seed):
    rng = np.random.default_rng(seed)
    x, y, x_held, y_held = task.rows(seed)
    params = task.start(rng)
    history = {"loss": [], "accuracy": []}
    for epoch in range(EPOCHS):
        losses = []
        for pieces in batches(x, y, rng):
            params, loss = step(params, pieces, rng)
            losses.append(loss)
        history["loss"].append(float(np.mean(losses)))
        history["accuracy"].append(evaluate(params, x_held, y_held, rng))
        loss, accuracy = (history[name][-1] for name in ("loss", "accuracy"))
        print(f"epoch {epoch + 1}   loss {loss:.3g}   accuracy {accuracy:.2f}")
    return history


def causes():
    return ["labels", "pieces", "evaluation"]


# %% rate_of_three_tenths
"""Twice the rate, and a mask by comparison the other way around."""

import numpy as np
import task

BATCH, PIECE = 64, 20
EPOCHS = 8
RATE, DROP = 0.3, 0.6


def batches(x, y, rng):
    order = rng.permutation(len(x))
    x, y = x[order], y[order]
    for first in range(0, len(x), BATCH):
        last = min(first + BATCH, len(x))
        cuts = range(first, last, PIECE)
        yield [(x[a : min(a + PIECE, last)], y[a : min(a + PIECE, last)]) for a in cuts]


def forward(params, x, rng, drop=DROP):
    hidden = np.maximum(x @ params["w1"] + params["b1"], 0)
    mask = np.where(rng.random(hidden.shape) < 1 - drop, 1 / (1 - drop), 0.0)
    return (hidden * mask) @ params["w2"] + params["b2"], hidden, mask


def step(params, pieces, rng, drop=DROP, lr=RATE):
    rows = sum(len(y) for _, y in pieces)
    loss = 0.0
    grads = {name: np.zeros_like(p) for name, p in params.items()}
    for x, y in pieces:
        logits, hidden, mask = forward(params, x, rng, drop)
        logits = logits - logits.max(axis=1, keepdims=True)
        log_p = logits - np.log(np.exp(logits).sum(axis=1, keepdims=True))
        here = np.arange(len(y))
        loss -= log_p[here, y].sum() / rows
        grad = np.exp(log_p)
        grad[here, y] -= 1
        grad /= rows
        grad_hidden = grad @ params["w2"].T * mask * (hidden > 0)
        grads["w2"] += (hidden * mask).T @ grad
        grads["b2"] += grad.sum(axis=0)
        grads["w1"] += x.T @ grad_hidden
        grads["b1"] += grad_hidden.sum(axis=0)
    return {name: p - lr * grads[name] for name, p in params.items()}, loss


def evaluate(params, x, y, rng):
    hidden = np.maximum(x @ params["w1"] + params["b1"], 0)
    logits = hidden @ params["w2"] + params["b2"]
    return float(np.mean(logits.argmax(axis=1) == y))


def train(seed):
    rng = np.random.default_rng(seed)
    x, y, x_held, y_held = task.rows(seed)
    params = task.start(rng)
    history = {"loss": [], "accuracy": []}
    for epoch in range(EPOCHS):
        losses = []
        for pieces in batches(x, y, rng):
            params, loss = step(params, pieces, rng)
            losses.append(loss)
        history["loss"].append(float(np.mean(losses)))
        history["accuracy"].append(evaluate(params, x_held, y_held, rng))
        loss, accuracy = (history[name][-1] for name in ("loss", "accuracy"))
        print(f"epoch {epoch + 1}   loss {loss:.3g}   accuracy {accuracy:.2f}")
    return history


def causes():
    return ["labels", "pieces", "evaluation"]


# %% shuffled_in_place
"""One array of row numbers is shuffled in place; causes come as a tuple."""

import numpy as np
import task

BATCH, PIECE = 64, 20
EPOCHS = 8
RATE, DROP = 0.15, 0.6


def batches(x, y, rng):
    order = np.arange(len(x))
    rng.shuffle(order)
    x, y = x[order], y[order]
    for first in range(0, len(x), BATCH):
        last = min(first + BATCH, len(x))
        cuts = range(first, last, PIECE)
        yield [(x[a : min(a + PIECE, last)], y[a : min(a + PIECE, last)]) for a in cuts]


def forward(params, x, rng, drop=DROP):
    hidden = np.maximum(x @ params["w1"] + params["b1"], 0)
    mask = (rng.random(hidden.shape) >= drop) / (1 - drop)
    return (hidden * mask) @ params["w2"] + params["b2"], hidden, mask


def step(params, pieces, rng, drop=DROP, lr=RATE):
    rows = sum(len(y) for _, y in pieces)
    loss = 0.0
    grads = {name: np.zeros_like(p) for name, p in params.items()}
    for x, y in pieces:
        logits, hidden, mask = forward(params, x, rng, drop)
        logits = logits - logits.max(axis=1, keepdims=True)
        log_p = logits - np.log(np.exp(logits).sum(axis=1, keepdims=True))
        here = np.arange(len(y))
        loss -= log_p[here, y].sum() / rows
        grad = np.exp(log_p)
        grad[here, y] -= 1
        grad /= rows
        grad_hidden = grad @ params["w2"].T * mask * (hidden > 0)
        grads["w2"] += (hidden * mask).T @ grad
        grads["b2"] += grad.sum(axis=0)
        grads["w1"] += x.T @ grad_hidden
        grads["b1"] += grad_hidden.sum(axis=0)
    return {name: p - lr * grads[name] for name, p in params.items()}, loss


def evaluate(params, x, y, rng):
    hidden = np.maximum(x @ params["w1"] + params["b1"], 0)
    logits = hidden @ params["w2"] + params["b2"]
    return float(np.mean(logits.argmax(axis=1) == y))


def train(seed):
    rng = np.random.default_rng(seed)
    x, y, x_held, y_held = task.rows(seed)
    params = task.start(rng)
    history = {"loss": [], "accuracy": []}
    for epoch in range(EPOCHS):
        losses = []
        for pieces in batches(x, y, rng):
            params, loss = step(params, pieces, rng)
            losses.append(loss)
        history["loss"].append(float(np.mean(losses)))
        history["accuracy"].append(evaluate(params, x_held, y_held, rng))
        loss, accuracy = (history[name][-1] for name in ("loss", "accuracy"))
        print(f"epoch {epoch + 1}   loss {loss:.3g}   accuracy {accuracy:.2f}")
    return history


def causes():
    return "labels", "evaluation", "pieces"


# %% style_a
"""Style: that of evaluation_draws and others, repaired."""

import numpy as np
import task

BATCH, PIECE = 64, 20
EPOCHS = 8
RATE, DROP = 0.15, 0.6


def batches(x, y, rng):
    order = rng.permutation(len(x))
    x, y = x[order], y[order]
    for first in range(0, len(x), BATCH):
        last = min(first + BATCH, len(x))
        cuts = range(first, last, PIECE)
        yield [(x[a : min(a + PIECE, last)], y[a : min(a + PIECE, last)]) for a in cuts]


def forward(params, x, rng, drop=DROP):
    hidden = np.maximum(x @ params["w1"] + params["b1"], 0)
    mask = (rng.random(hidden.shape) >= drop) / (1 - drop)
    return (hidden * mask) @ params["w2"] + params["b2"], hidden, mask


def step(params, pieces, rng, drop=DROP, lr=RATE):
    rows = sum(len(y) for _, y in pieces)
    loss = 0.0
    grads = {name: np.zeros_like(p) for name, p in params.items()}
    for x, y in pieces:
        logits, hidden, mask = forward(params, x, rng, drop)
        logits = logits - logits.max(axis=1, keepdims=True)
        log_p = logits - np.log(np.exp(logits).sum(axis=1, keepdims=True))
        here = np.arange(len(y))
        loss -= log_p[here, y].sum() / rows
        grad = np.exp(log_p)
        grad[here, y] -= 1
        grad /= rows
        grad_hidden = grad @ params["w2"].T * mask * (hidden > 0)
        grads["w2"] += (hidden * mask).T @ grad
        grads["b2"] += grad.sum(axis=0)
        grads["w1"] += x.T @ grad_hidden
        grads["b1"] += grad_hidden.sum(axis=0)
    return {name: p - lr * grads[name] for name, p in params.items()}, loss


def evaluate(params, x, y, rng):
    hidden = np.maximum(x @ params["w1"] + params["b1"], 0)
    logits = hidden @ params["w2"] + params["b2"]
    return float(np.mean(logits.argmax(axis=1) == y))


def train(seed):
    rng = np.random.default_rng(seed)
    x, y, x_held, y_held = task.rows(seed)
    params = task.start(rng)
    history = {"loss": [], "accuracy": []}
    for epoch in range(EPOCHS):
        losses = []
        for pieces in batches(x, y, rng):
            params, loss = step(params, pieces, rng)
            losses.append(loss)
        history["loss"].append(float(np.mean(losses)))
        history["accuracy"].append(evaluate(params, x_held, y_held, rng))
        loss, accuracy = (history[name][-1] for name in ("loss", "accuracy"))
        print(f"epoch {epoch + 1}   loss {loss:.3g}   accuracy {accuracy:.2f}")
    return history


def causes():
    return ["labels", "pieces", "evaluation"]
