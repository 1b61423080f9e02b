"""Training in float16: a scaled loss, and updates of float32 weights."""

import numpy as np


def step(master, grads, scale, lr):
    """Return the weights after a step, and float16 copies of them."""
    new = []
    for p, g in zip(master, grads):
        if not np.isfinite(g).all():
            new.append(p.copy())
            continue
        g = (g / scale).astype(np.float32)
        new.append(p - lr * g)
    return new, [w.astype(np.float16) for w in new]


def init(scale, growth, backoff, interval):
    """Return the state of a loss scale that adapts itself."""
    return {
        "scale": scale,
        "growth": growth,
        "backoff": backoff,
        "interval": interval,
        "steps": 0,
    }


def loss_scale(state):
    """Return what the next loss is multiplied by."""
    return state["scale"]


def train_step(master, grads, state, lr):
    """Return the weights after a step, float16 copies, and the new state."""
    new, half = step(master, grads, state["scale"], lr)
    state["steps"] += 1
    if not all(np.isfinite(g).all() for g in grads):
        state["scale"] *= state["backoff"]
    elif state["steps"] % state["interval"] == 0:
        state["scale"] *= state["growth"]
    return new, half, state


def big_step(master, batches, state, lr, max_norm):
    """Return the same after one step for several micro-batches, clipped."""
    grads = [sum(parts) / len(batches) for parts in zip(*batches)]
    norm = np.sqrt(sum(np.square(g, dtype=np.float64).sum() for g in grads))
    if norm > max_norm:
        grads = [g * float(max_norm / norm) for g in grads]
    return train_step(master, grads, state, lr)
