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
