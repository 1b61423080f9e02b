"""Copies first, and all arithmetic in place on them; skipped by try and except."""

import numpy as np


class Overflow(Exception):
    pass


def wide(grads):
    copies = [np.array(g, dtype=np.float32) for g in grads]
    for g in copies:
        if not np.isfinite(g).all():
            raise Overflow
    return copies


def subtract(master, true, lr):
    new = [np.array(p) for p in master]
    for w, g in zip(new, true):
        g *= lr
        w -= g
    return new


def halves(new):
    return [w.astype("e") for w in new]


def step(master, grads, scale, lr):
    try:
        true = wide(grads)
    except Overflow:
        return list(master), halves(master)
    for g in true:
        g /= scale
    new = subtract(master, true, lr)
    return new, halves(new)


def init(scale, growth, backoff, interval):
    return dict(scale=scale, factors=(backoff, growth), interval=interval, row=0)


def loss_scale(state):
    return state["scale"]


def count(state, finite):
    state["row"] += 1
    if not finite or state["row"] == state["interval"]:
        state["scale"] *= state["factors"][finite]
        state["row"] = 0


def train_step(master, grads, state, lr):
    return big_step(master, [grads], state, lr, float("inf"))


def big_step(master, batches, state, lr, max_norm):
    scale = state["scale"]
    try:
        several = [wide(grads) for grads in batches]
    except Overflow:
        count(state, False)
        return list(master), halves(master), state
    total = several[0]
    for others in several[1:]:
        for g, other in zip(total, others):
            g += other
    for g in total:
        g /= scale * len(batches)
    norm = sum(float((g.astype(float) ** 2).sum()) for g in total) ** 0.5
    if norm > max_norm:
        for g in total:
            g *= max_norm / norm
    new = subtract(master, total, lr)
    count(state, True)
    return new, halves(new), state
