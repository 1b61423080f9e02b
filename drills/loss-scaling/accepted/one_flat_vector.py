"""All parameters as one float64 vector, cut up again at the end."""

import numpy as np


def flat(arrays):
    return np.concatenate([np.asarray(a, dtype=np.float64).ravel() for a in arrays])


def cut(vector, master):
    ends = np.cumsum([p.size for p in master])[:-1]
    pieces = np.split(vector, ends)
    return [v.reshape(p.shape).astype(np.float32) for v, p in zip(pieces, master)]


def along(master, gradient, lr):
    weights = flat(master)
    if np.isfinite(gradient).all():
        weights = weights - lr * gradient
    new = cut(weights, master)
    return new, [w.astype(np.float16) for w in new]


def step(master, grads, scale, lr):
    return along(master, flat(grads) / scale, lr)


def init(scale, growth, backoff, interval):
    return [scale, 0, growth, backoff, interval]


def loss_scale(state):
    return state[0]


def adjust(state, fine):
    scale, row, growth, backoff, interval = state
    row = row + 1 if fine else 0
    if not fine:
        scale *= backoff
    if row == interval:
        scale, row = scale * growth, 0
    return [scale, row, growth, backoff, interval]


def train_step(master, grads, state, lr):
    fine = bool(np.isfinite(flat(grads)).all())
    return *step(master, grads, state[0], lr), adjust(state, fine)


def big_step(master, batches, state, lr, max_norm):
    gradient = np.mean([flat(grads) for grads in batches], axis=0) / state[0]
    fine = bool(np.isfinite(gradient).all())
    if fine:
        length = np.linalg.norm(gradient)
        gradient = gradient * min(1.0, max_norm / (length + 1e-6))
    return *along(master, gradient, lr), adjust(state, fine)
