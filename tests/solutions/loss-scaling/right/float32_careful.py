"""Style: every array and every number float32, from the first operation on."""

import numpy as np

F = np.float32


def step(master, grads, scale, lr):
    wide = [g.astype(F) for g in grads]
    if not all(np.isfinite(g).all() for g in wide):
        new = [p.copy() for p in master]
    else:
        new = [p - F(lr) * (g / F(scale)) for p, g in zip(master, wide)]
    return new, [w.astype(np.float16) for w in new]


def init(scale, growth, backoff, interval):
    return (F(scale), F(growth), F(backoff), interval, interval)


def loss_scale(state):
    return state[0]


def adjusted(state, fine):
    scale, growth, backoff, interval, left = state
    if not fine:
        return (scale * backoff, growth, backoff, interval, interval)
    if left == 1:
        return (scale * growth, growth, backoff, interval, interval)
    return (scale, growth, backoff, interval, left - 1)


def train_step(master, grads, state, lr):
    new, half = step(master, grads, state[0], lr)
    return new, half, adjusted(state, all(np.isfinite(g).all() for g in grads))


def big_step(master, batches, state, lr, max_norm):
    mean = []
    for parts in zip(*batches):
        total = parts[0].astype(F)
        for g in parts[1:]:
            total = total + g.astype(F)
        mean.append(total / F(len(batches)) / state[0])
    fine = all(np.isfinite(g).all() for g in mean)
    if fine:
        norm = np.sqrt(np.sum([np.sum(g * g, dtype=F) for g in mean], dtype=F))
        mean = [g * np.minimum(F(1), F(max_norm) / (norm + F(1e-6))) for g in mean]
    new, half = step(master, mean, F(1), lr)
    return new, half, adjusted(state, fine)
