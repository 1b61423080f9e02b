"""The scale is kept as an exponent of 2, and undone by ldexp."""

import math
from dataclasses import dataclass, replace

import numpy as np


@dataclass(frozen=True)
class State:
    exponent: int
    up: int
    down: int
    interval: int
    left: int  # steps until the scale grows


def exponent_of(power):
    return round(math.log2(power))


def step(master, grads, scale, lr):
    shift = -exponent_of(scale)
    true = [np.ldexp(g.astype(np.float32), shift) for g in grads]
    return towards(master, true, lr)


def towards(master, true, lr):
    skip = not all(np.isfinite(g).all() for g in true)
    new = [np.array(p, copy=True) if skip else np.subtract(p, lr * g) for p, g in zip(master, true)]
    return new, [np.asarray(w, dtype="float16") for w in new]


def init(scale, growth, backoff, interval):
    return State(exponent_of(scale), exponent_of(growth), exponent_of(backoff), interval, interval)


def loss_scale(state):
    return 2.0**state.exponent


def after(state, skip):
    if skip:
        return replace(state, exponent=state.exponent + state.down, left=state.interval)
    if state.left == 1:
        return replace(state, exponent=state.exponent + state.up, left=state.interval)
    return replace(state, left=state.left - 1)


def train_step(master, grads, state, lr):
    skip = not all(np.isfinite(g).all() for g in grads)
    return *step(master, grads, loss_scale(state), lr), after(state, skip)


def big_step(master, batches, state, lr, max_norm):
    true = []
    for parts in zip(*batches):
        wide = np.array([np.ldexp(g.astype(np.float32), -state.exponent) for g in parts])
        true.append(np.einsum("k...->...", wide) / len(parts))
    skip = not all(np.isfinite(g).all() for g in true)
    norm = 0 if skip else math.sqrt(sum(float(np.vdot(g, g)) for g in true))
    if norm > max_norm:
        true = [g * (max_norm / norm) for g in true]
    return *towards(master, true, lr), after(state, skip)
