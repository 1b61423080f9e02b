"""The state is two functions, which share what they know."""

import numpy as np


def step(master, grads, scale, lr):
    usable = all(map(lambda g: np.isfinite(g).all(), grads))
    rate = lr / scale if usable else 0.0

    def move(p, g):
        return p - rate * g.astype(np.float32) if usable else p

    new = list(map(move, master, grads))
    return new, list(map(np.float16, new))


def init(scale, growth, backoff, interval):
    since = 0

    def look():
        return scale

    def note(usable):
        nonlocal scale, since
        since = since + 1 if usable else 0
        scale = scale if usable else scale * backoff
        if since == interval:
            scale, since = scale * growth, 0

    return look, note


def loss_scale(state):
    return state[0]()


def train_step(master, grads, state, lr):
    look, note = state
    result = step(master, grads, look(), lr)
    note(all(np.isfinite(g).all() for g in grads))
    return *result, state


def big_step(master, batches, state, lr, max_norm):
    look, note = state
    grads = [np.mean(np.stack(parts), axis=0, dtype=np.float32) for parts in zip(*batches)]
    usable = all(np.isfinite(g).all() for g in grads)
    if usable:
        limit = max_norm * look()
        norm = np.linalg.norm([np.linalg.norm(g.ravel()) for g in grads])
        grads = [g * np.float32(limit / max(limit, norm)) for g in grads]
    result = step(master, grads, look(), lr)
    note(usable)
    return *result, state
