"""The state is what has happened so far; scale and row are worked out from it each time."""

import numpy as np


def step(master, grads, scale, lr):
    length = sum(np.square(g, dtype=np.float64).sum() for g in grads)
    if not np.isfinite(length):
        new = [0 + p for p in master]
    else:
        new = [
            (p - lr * (g.astype(np.float64) / scale)).astype(p.dtype) for p, g in zip(master, grads)
        ]
    return new, [np.array(w, np.float16) for w in new]


def init(scale, growth, backoff, interval):
    return scale, growth, backoff, interval, ()


def loss_scale(state):
    scale, growth, backoff, interval, history = state
    rows = "".join("." if fine else "x" for fine in history).split("x")
    growths = sum(len(row) // interval for row in rows)
    return scale * backoff ** (len(rows) - 1) * growth**growths


def with_one_more(state, fine):
    return *state[:-1], (*state[-1], fine)


def finite(grads):
    return bool(np.isfinite(np.hstack([g.ravel() for g in grads])).all())


def train_step(master, grads, state, lr):
    new, half = step(master, grads, loss_scale(state), lr)
    return new, half, with_one_more(state, finite(grads))


def big_step(master, batches, state, lr, max_norm):
    scale = loss_scale(state)
    fine = all(finite(grads) for grads in batches)
    if not fine:
        return *step(master, batches[0], scale, 0.0), with_one_more(state, False)
    mean = [sum(np.float64(1) * g for g in parts) / len(batches) for parts in zip(*batches)]
    norm = np.sqrt(sum((g * g).sum() for g in mean)) / scale
    factor = max_norm / norm if norm > max_norm else 1
    return *step(master, [g * factor for g in mean], scale, lr), with_one_more(state, True)
