"""A class in the manner of GradScaler; the state is the object itself, which changes."""

import numpy as np


class Scaler:
    __slots__ = ("backoff", "growth", "interval", "row", "value")

    def __init__(self, value, growth, backoff, interval):
        self.value, self.growth, self.backoff = value, growth, backoff
        self.interval, self.row = interval, 0

    def unscale(self, grads):
        inverse = np.float32(1.0 / self.value)
        return [np.multiply(g, inverse, dtype=np.float32) for g in grads]

    def update(self, found_inf):
        if found_inf:
            self.value *= self.backoff
            self.row = 0
            return
        self.row += 1
        if self.row == self.interval:
            self.value *= self.growth
            self.row = 0


def found_inf(grads):
    return any(not np.isfinite(g).all() for g in grads)


def sgd(master, grads, lr):
    return [p - np.float32(lr) * g for p, g in zip(master, grads)]


def copies(new):
    return new, [w.astype(np.float16) for w in new]


def step(master, grads, scale, lr):
    grads = Scaler(scale, 2.0, 0.5, 1).unscale(grads)
    return copies([p.copy() for p in master] if found_inf(grads) else sgd(master, grads, lr))


def init(scale, growth, backoff, interval):
    return Scaler(scale, growth, backoff, interval)


def loss_scale(state):
    return state.value


def train_step(master, grads, state, lr):
    new, half = step(master, grads, state.value, lr)
    state.update(found_inf(grads))
    return new, half, state


def big_step(master, batches, state, lr, max_norm):
    grads = [np.zeros(p.shape, np.float32) for p in master]
    for batch in batches:
        for total, g in zip(grads, state.unscale(batch)):
            total += g / np.float32(len(batches))
    bad = found_inf(grads)
    if bad:
        new = list(master)
    else:
        norm = np.sqrt(sum(np.vdot(g, g) for g in grads))
        factor = np.float32(min(1.0, max_norm / (float(norm) + 1e-6)))
        new = sgd(master, [factor * g for g in grads], lr)
    state.update(bad)
    return *copies(new), state
