"""Style: a skipped step hands the caller's own arrays back; nested functions, no helper outside."""

import numpy as np


def step(master, grads, scale, lr):
    for g in grads:
        if np.isnan(g).any() or np.isinf(g).any():
            return master, [p.astype(np.float16) for p in master]
    rate = np.array(lr / scale, dtype=np.float32)
    new = tuple(p - rate * np.array(g, dtype=np.float32) for p, g in zip(master, grads))
    return list(new), [np.float16(w) for w in new]


def init(scale, growth, backoff, interval):
    def adjusted(now, row, fine):
        if fine and row + 1 == interval:
            return now * growth, 0
        return (now, row + 1) if fine else (now * backoff, 0)

    return adjusted, (scale, 0)


def loss_scale(state):
    return state[1][0]


def train_step(master, grads, state, lr):
    adjusted, at = state
    new, half = step(master, grads, at[0], lr)
    return new, half, (adjusted, adjusted(*at, new is not master))


def big_step(master, batches, state, lr, max_norm):
    adjusted, at = state
    mean = [sum(map(np.float32, parts)) for parts in zip(*batches)]
    unit = at[0] * len(batches)
    norm = np.linalg.norm(np.concatenate([g.ravel() for g in mean])) / unit
    if np.isfinite(norm):
        mean = [g * np.float32(1 / max(1.0, norm / max_norm)) for g in mean]
    new, half = step(master, mean, unit, lr)
    return new, half, (adjusted, adjusted(*at, new is not master))
