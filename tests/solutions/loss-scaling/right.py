# %% float32_careful
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


# %% plain_loops
"""Style: plain Python loops over single entries, numbers of Python inside."""

import math

import numpy as np


def all_finite(grads):
    for g in grads:
        for entry in g.flat:
            if math.isinf(entry) or math.isnan(entry):
                return False
    return True


def step(master, grads, scale, lr):
    new, half = [], []
    move = all_finite(grads)
    for p, g in zip(master, grads):
        w = np.empty(p.shape, np.float32)
        h = np.empty(p.shape, np.float16)
        for index in np.ndindex(*p.shape):
            value = float(p[index])
            if move:
                value -= lr * float(g[index]) / scale
            w[index] = value
            h[index] = w[index]
        new.append(w)
        half.append(h)
    return new, half


def init(scale, growth, backoff, interval):
    return {"scale": scale, "growth": growth, "backoff": backoff, "interval": interval, "row": 0}


def loss_scale(state):
    return state["scale"]


def adjust(state, fine):
    if not fine:
        state["scale"] *= state["backoff"]
        state["row"] = 0
    else:
        state["row"] += 1
        if state["row"] >= state["interval"]:
            state["scale"] *= state["growth"]
            state["row"] = 0


def train_step(master, grads, state, lr):
    new, half = step(master, grads, state["scale"], lr)
    adjust(state, all_finite(grads))
    return new, half, state


def big_step(master, batches, state, lr, max_norm):
    fine = True
    for grads in batches:
        fine = fine and all_finite(grads)
    means, squares = [], 0.0
    for k in range(len(master)):
        mean = np.zeros(master[k].shape)
        for index in np.ndindex(*mean.shape):
            total = 0.0
            for grads in batches:
                total += float(grads[k][index])
            mean[index] = total / len(batches) / state["scale"]
            squares += mean[index] * mean[index]
        means.append(mean)
    if not fine:
        means[0].fill(math.nan)
    elif math.sqrt(squares) > max_norm:
        for mean in means:
            mean *= max_norm / math.sqrt(squares)
    new, half = step(master, means, 1.0, lr)
    adjust(state, fine)
    return new, half, state


# %% same_arrays_when_skipped
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


# %% style_a
"""Style: that of grows_once and others, repaired."""

import numpy as np


def finite(grads):
    return all(np.isfinite(g).all() for g in grads)


def step(master, grads, scale, lr):
    if not finite(grads):
        new = [p.copy() for p in master]
    else:
        new = [p - lr * (g.astype(np.float32) / scale) for p, g in zip(master, grads)]
    return new, [w.astype(np.float16) for w in new]


def init(scale, growth, backoff, interval):
    return {"scale": scale, "growth": growth, "backoff": backoff, "interval": interval, "row": 0}


def loss_scale(state):
    return state["scale"]


def adjust(state, fine):
    if not fine:
        state["scale"] *= state["backoff"]
        state["row"] = 0
    else:
        state["row"] += 1
        if state["row"] == state["interval"]:
            state["scale"] *= state["growth"]
            state["row"] = 0
    return state


def train_step(master, grads, state, lr):
    new, half = step(master, grads, state["scale"], lr)
    return new, half, adjust(state, finite(grads))


def big_step(master, batches, state, lr, max_norm):
    grads = [sum(g.astype(np.float32) for g in parts) / len(batches) for parts in zip(*batches)]
    fine = finite(grads)
    if fine:
        norm = float(np.sqrt(sum(np.sum(g * g) for g in grads))) / state["scale"]
        if norm > max_norm:
            grads = [g * (max_norm / norm) for g in grads]
    new, half = step(master, grads, state["scale"], lr)
    return new, half, adjust(state, fine)
