"""Wrong: gradients beyond 32,768 are taken for an overflow."""

import numpy as np


def finite(grads):
    return all((np.abs(g) < 32768).all() for g in grads)


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
