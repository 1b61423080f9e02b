# %% einsum-and-argsort
"""Every product by einsum; an order by sorting numbers that were drawn; the causes are a tuple."""

import numpy as np
import task

def logits_of(params, hidden):
    return np.einsum("rh,hc->rc", hidden, params["w2"]) + params["b2"]

def hidden_of(params, x):
    return np.maximum(np.einsum("ri,ih->rh", x, params["w1"]) + params["b1"], 0)

def batches(x, y, rng):
    order = np.argsort(rng.random(len(x)))
    x, y = np.take(x, order, axis=0), np.take(y, order)
    for a in range(0, len(x), 64):
        xs, ys = x[a : a + 64], y[a : a + 64]
        yield [(xs[b : b + 20], ys[b : b + 20]) for b in range(0, len(xs), 20)]

def gradients(params, x, y, factor):
    hidden = hidden_of(params, x)
    logits = logits_of(params, hidden * factor)
    log_p = logits - np.logaddexp.reduce(logits, axis=1, keepdims=True)
    wanted = np.eye(logits.shape[1])[y]
    back = np.exp(log_p) - wanted
    before = np.einsum("rc,hc,rh,rh->rh", back, params["w2"], factor, (hidden > 0) * 1.0)
    return -np.sum(wanted * log_p), {
        "w1": np.einsum("ri,rh->ih", x, before),
        "b1": np.einsum("rh->h", before),
        "w2": np.einsum("rh,rh,rc->hc", hidden, factor, back),
        "b2": np.einsum("rc->c", back),
    }

def step(params, pieces, rng, drop=0.6, lr=0.15):
    total, rows, sums = 0.0, 0, dict.fromkeys(params, 0.0)
    for x, y in pieces:
        shape = (len(x), params["w1"].shape[1])
        loss, found = gradients(params, x, y, rng.binomial(1, 1 - drop, shape) / (1 - drop))
        total, rows = total + loss, rows + len(y)
        sums = {name: sums[name] + found[name] for name in params}
    return {name: params[name] - lr * sums[name] / rows for name in params}, total / rows

def evaluate(params, x, y, rng):
    return np.count_nonzero(logits_of(params, hidden_of(params, x)).argmax(axis=1) == y) / len(y)

def train(seed):
    rng = np.random.default_rng(seed + 1)
    x, y, x_held, y_held = task.rows(seed)
    params = {
        "w1": rng.uniform(-0.5, 0.5, (20, 64)),
        "b1": np.zeros(64),
        "w2": rng.uniform(-0.2, 0.2, (64, 4)),
        "b2": np.zeros(4),
    }
    rows = []
    for _ in range(8):
        losses = []
        for pieces in batches(x, y, rng):
            params, loss = step(params, pieces, rng)
            losses.append(loss)
        rows.append((np.mean(losses), evaluate(params, x_held, y_held, rng)))
    loss, accuracy = zip(*rows, strict=True)
    return {"loss": np.array(loss), "accuracy": np.array(accuracy)}

def causes():
    return ("evaluation", "labels", "pieces")

# %% layers-as-closures
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

# %% network-class
"""A network object that keeps what its backward pass needs; gradients are added up in it."""

import numpy as np
import task

RATE = 0.1

class Network:
    def __init__(self, params, rng, drop):
        self.params, self.rng, self.drop = params, rng, drop
        self.sums = {name: np.zeros(p.shape) for name, p in params.items()}
        self.rows, self.loss = 0, 0.0

    def forward(self, x):
        self.x = x
        self.before = x @ self.params["w1"] + self.params["b1"]
        self.hidden = self.before.clip(min=0)
        if self.drop:
            self.kept = self.rng.random(self.hidden.shape) > self.drop
            self.hidden = self.hidden * self.kept / (1 - self.drop)
        return self.hidden @ self.params["w2"] + self.params["b2"]

    def add(self, x, y):
        logits = self.forward(x)
        top = logits.max(axis=1, keepdims=True)
        p = np.exp(logits - top)
        total = p.sum(axis=1, keepdims=True)
        every = np.arange(len(y))
        self.loss += float(np.sum(np.log(total[:, 0]) + top[:, 0] - logits[every, y]))
        self.rows += len(y)
        back = p / total
        back[every, y] -= 1
        self.sums["w2"] += self.hidden.T @ back
        self.sums["b2"] += back.sum(axis=0)
        back = back @ self.params["w2"].T * (self.before > 0)
        if self.drop:
            back = back * self.kept / (1 - self.drop)
        self.sums["w1"] += self.x.T @ back
        self.sums["b1"] += back.sum(axis=0)

def batches(x, y, rng):
    order = rng.permutation(len(x))
    found = []
    for batch in np.split(order, range(64, len(order), 64)):
        found.append([(x[n], y[n]) for n in np.split(batch, range(20, len(batch), 20))])
    return found

def step(params, pieces, rng, drop=0.6, lr=RATE):
    network = Network(params, rng, drop)
    for piece in pieces:
        network.add(*piece)
    scale = lr / network.rows
    return {n: p - scale * network.sums[n] for n, p in params.items()}, network.loss / network.rows

def evaluate(params, x, y, rng):
    return (Network(params, None, 0).forward(x).argmax(axis=1) == y).mean()

def train(seed):
    rng = np.random.default_rng(seed)
    x, y, x_held, y_held = task.rows(seed)
    params = {
        "w1": rng.normal(size=(20, 64), scale=0.3),
        "b1": np.zeros(64),
        "w2": rng.normal(size=(64, 4), scale=0.1),
        "b2": np.zeros(4),
    }
    loss, accuracy = [], []
    for _ in range(8):
        total = 0.0
        every = batches(x, y, rng)
        for pieces in every:
            params, now = step(params, pieces, rng)
            total += now / len(every)
        loss.append(total)
        accuracy.append(evaluate(params, x_held, y_held, rng))
    return {"loss": loss, "accuracy": accuracy}

def causes():
    return ["labels", "pieces", "evaluation"]

# %% repaired-in-place
"""Train a classifier of one hidden layer with dropout; 64 rows to a step, 20 at a time in memory."""

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

# %% row-by-row
"""One row at a time: outer products, and a dict of sums."""

import math

import numpy as np
import task

def hidden_of(params, row):
    return np.maximum(row @ params["w1"] + params["b1"], 0)

def batches(x, y, rng):
    left = list(range(len(x)))
    rng.shuffle(left)
    while left:
        batch, left = left[:64], left[64:]
        pieces = []
        while batch:
            pieces.append((x[batch[:20]], y[batch[:20]]))
            batch = batch[20:]
        yield pieces

def step(params, pieces, rng, drop=0.6, lr=0.2):
    new = {name: p.copy() for name, p in params.items()}
    rows = sum(len(y) for _, y in pieces)
    loss = 0.0
    for x, y in pieces:
        for row, label in zip(x, y, strict=True):
            hidden = hidden_of(params, row)
            factor = (rng.random(len(hidden)) >= drop) / (1 - drop)
            logits = (hidden * factor) @ params["w2"] + params["b2"]
            shares = np.exp(logits - logits.max())
            shares /= shares.sum()
            loss -= math.log(shares[label]) / rows
            shares[label] -= 1
            back = (params["w2"] @ shares) * factor * (hidden > 0)
            new["w2"] -= lr / rows * np.outer(hidden * factor, shares)
            new["b2"] -= lr / rows * shares
            new["w1"] -= lr / rows * np.outer(row, back)
            new["b1"] -= lr / rows * back
    return new, loss

def evaluate(params, x, y, rng):
    right = [
        np.argmax(hidden_of(params, row) @ params["w2"] + params["b2"]) == label
        for row, label in zip(x, y, strict=True)
    ]
    return sum(map(int, right)) / len(right)

def train(seed):
    rng = np.random.default_rng(seed)
    x, y, *held = task.rows(seed)
    params = {
        "w1": rng.standard_normal((20, 64)) / 3,
        "b1": np.zeros(64),
        "w2": rng.standard_normal((64, 4)) / 8,
        "b2": np.zeros(4),
    }
    history = {"loss": [], "accuracy": []}
    for _ in range(8):
        losses = []
        for pieces in batches(x, y, rng):
            params, loss = step(params, pieces, rng)
            losses.append(loss)
        history["loss"].append(sum(losses) / len(losses))
        history["accuracy"].append(evaluate(params, *held, rng))
    return history

def causes():
    return ["pieces", "labels", "evaluation"]

# %% weights-in-one-vector
"""All weights lie in one vector, so that a step is one subtraction."""

import numpy as np
import task

NAMES = ("w1", "b1", "w2", "b2")
LEARNING_RATE = 0.12

def packed(params):
    return np.concatenate([params[name].ravel() for name in NAMES])

def unpacked(vector, shapes):
    found, at = {}, 0
    for name in NAMES:
        size = int(np.prod(shapes[name]))
        found[name] = vector[at : at + size].reshape(shapes[name])
        at += size
    return found

def batches(x, y, rng):
    together = np.arange(len(x))
    together = together[rng.permutation(len(together))]
    ends = [*range(0, len(x), 64), len(x)]
    return [
        [
            (x[together[a : min(a + 20, last)]], y[together[a : min(a + 20, last)]])
            for a in range(first, last, 20)
        ]
        for first, last in zip(ends, ends[1:], strict=False)
    ]

def forward(params, x, factor):
    hidden = x @ params["w1"] + params["b1"]
    hidden[hidden < 0] = 0
    noisy = hidden * factor
    logits = noisy @ params["w2"] + params["b2"]
    return hidden, noisy, logits - logits.max(axis=1, keepdims=True)

def step(params, pieces, rng, drop=0.6, lr=LEARNING_RATE):
    shapes = {name: p.shape for name, p in params.items()}
    slope, loss, rows = 0.0, 0.0, 0
    for x, y in pieces:
        factor = np.floor(rng.random((len(x), len(params["b1"]))) + (1 - drop)) / (1 - drop)
        hidden, noisy, logits = forward(params, x, factor)
        p = np.exp(logits)
        p /= p.sum(axis=1, keepdims=True)
        every = (np.arange(len(y)), y)
        loss += -np.log(p[every]).sum()
        p[every] -= 1
        back = p @ params["w2"].T * factor * np.sign(hidden)
        grads = {"w1": x.T @ back, "b1": back.sum(0), "w2": noisy.T @ p, "b2": p.sum(0)}
        slope = slope + packed(grads)
        rows += len(y)
    return unpacked(packed(params) - lr * slope / rows, shapes), loss / rows

def evaluate(params, x, y, rng):
    return float(np.mean(forward(params, x, 1.0)[2].argmax(axis=1) == y))

def train(seed):
    rng = np.random.default_rng(seed)
    x, y, x_held, y_held = task.rows(seed)
    params = {
        "w1": rng.standard_normal((20, 64)) * 0.3,
        "b1": np.zeros(64),
        "w2": rng.standard_normal((64, 4)) * 0.12,
        "b2": np.zeros(4),
    }
    history = {"loss": [], "accuracy": []}
    for _ in range(8):
        losses = []
        for pieces in batches(x, y, rng):
            params, loss = step(params, pieces, rng)
            losses.append(loss)
        history["loss"].append(float(np.mean(losses)))
        history["accuracy"].append(evaluate(params, x_held, y_held, rng))
    return history

def causes():
    return ["labels", "pieces", "evaluation"]
