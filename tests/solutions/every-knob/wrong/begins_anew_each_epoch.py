"""Each epoch begins with the first weights."""

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
        losses, params = [], task.start(np.random.default_rng(seed))
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
