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
