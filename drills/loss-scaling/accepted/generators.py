"""A generator is the state: it yields scales and is sent the outcomes of steps."""

import numpy as np


def scales(scale, growth, backoff, interval):
    while True:
        for _ in range(interval):
            if not (yield scale):
                scale *= backoff
                break
        else:
            scale *= growth


def step(master, grads, scale, lr):
    fine = not any((~np.isfinite(g)).any() for g in grads)
    rate = np.float32(lr / scale)
    new = [p - rate * np.asarray(g, np.float32) if fine else p for p, g in zip(master, grads)]
    return new, [np.array(w, dtype=np.float16) for w in new]


def init(scale, growth, backoff, interval):
    run = scales(scale, growth, backoff, interval)
    return run, next(run)


def loss_scale(state):
    return state[1]


def train_step(master, grads, state, lr):
    run, scale = state
    fine = not any((~np.isfinite(g)).any() for g in grads)
    return *step(master, grads, scale, lr), (run, run.send(fine))


def big_step(master, batches, state, lr, max_norm):
    run, scale = state
    share = np.float32(1 / len(batches))
    mean = [np.add.reduce([share * g for g in parts]) for parts in zip(*batches)]
    fine = not any((~np.isfinite(g)).any() for g in mean)
    if fine:
        norms = [float(np.linalg.norm(g.astype(np.float64))) for g in mean]
        excess = np.hypot.reduce(norms) / (max_norm * scale)
        mean = [g / np.float32(max(1.0, excess)) for g in mean]
    return *step(master, mean, scale, lr), (run, run.send(fine))
