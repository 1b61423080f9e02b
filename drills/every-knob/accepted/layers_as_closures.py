"""Layers as functions that return their own backward pass; generators for batches and pieces."""

import numpy as np
import task

RATE = 0.15


def dense(w, b, x):
    return x @ w + b, lambda back: (x.T @ back, back.sum(axis=0), back @ w.T)


def relu(x):
    return np.where(x > 0, x, 0), lambda back: np.where(x > 0, back, 0)


def dropped(x, rng, drop):
    if drop == 0:
        return x, lambda back: back
    factor = np.where(rng.random(x.shape) < drop, 0, 1 / (1 - drop))
    return x * factor, lambda back: back * factor


def cross_entropy(logits, y):
    shifted = logits - logits.max(axis=1, keepdims=True)
    total = np.exp(shifted).sum(axis=1)
    every = np.arange(len(y))
    back = np.exp(shifted) / total[:, None]
    back[every, y] -= 1
    return np.sum(np.log(total) - shifted[every, y]), back


def chunks(rows, size):
    return (rows[a : a + size] for a in range(0, len(rows), size))


def batches(x, y, rng):
    for batch in chunks(rng.permutation(len(x)), 64):
        yield ((x[piece], y[piece]) for piece in chunks(batch, 20))


def step(params, pieces, rng, drop=0.6, lr=RATE):
    added, rows, loss = None, 0, 0
    for x, y in pieces:
        before, back_1 = dense(params["w1"], params["b1"], x)
        hidden, back_2 = relu(before)
        noisy, back_3 = dropped(hidden, rng, drop)
        logits, back_4 = dense(params["w2"], params["b2"], noisy)
        here, back = cross_entropy(logits, y)
        w2, b2, back = back_4(back)
        w1, b1, _ = back_1(back_2(back_3(back)))
        found = [w1, b1, w2, b2]
        added = found if added is None else [a + b for a, b in zip(added, found, strict=True)]
        rows, loss = rows + len(y), loss + here
    moved = dict(zip(("w1", "b1", "w2", "b2"), added, strict=True))
    return {name: params[name] - lr / rows * moved[name] for name in params}, loss / rows


def evaluate(params, x, y, rng):
    hidden, _ = relu(dense(params["w1"], params["b1"], x)[0])
    return float((dense(params["w2"], params["b2"], hidden)[0].argmax(axis=1) == y).mean())


def train(seed):
    rng = np.random.default_rng(seed)
    x, y, x_held, y_held = task.rows(seed)
    params = {
        "w1": rng.standard_normal((20, 64)) * np.sqrt(2 / 20),
        "b1": np.zeros(64),
        "w2": rng.standard_normal((64, 4)) / 8,
        "b2": np.zeros(4),
    }
    history = {"loss": [], "accuracy": []}
    for _ in range(8):
        losses = []
        for pieces in batches(x, y, rng):
            params, loss = step(params, pieces, rng)
            losses.append(float(loss))
        history["loss"].append(np.mean(losses))
        history["accuracy"].append(evaluate(params, x_held, y_held, rng))
    return history


def causes():
    return ["labels", "pieces", "evaluation"]
