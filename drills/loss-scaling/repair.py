"""Training in float16: a scaled loss, and updates of float32 weights."""

import numpy as np


def step(master, grads, scale, lr):
    """Return the weights after a step, and float16 copies of them."""
    # why: An overflow anywhere means that no gradient of this step can be
    #      trusted, so no weight moves.
    if not all(np.isfinite(g).all() for g in grads):
        new = [p.copy() for p in master]
        return new, [w.astype(np.float16) for w in new]
    new = []
    for p, g in zip(master, grads):
        # why: Float16 ends at 6e-8, and what the scale has saved is below
        #      that again without it: first float32, then the division.
        g = g.astype(np.float32) / scale
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
        # why 2: A row is counted from the last overflow, not by a clock.
        state["steps"] = 0
    elif state["steps"] % state["interval"] == 0:
        state["scale"] *= state["growth"]
    return new, half, state


def big_step(master, batches, state, lr, max_norm):
    """Return the same after one step for several micro-batches, clipped."""
    # why 3: The sum of two float16 arrays is float16, and ends at 65,504.
    batches = [[g.astype(np.float32) for g in grads] for grads in batches]
    grads = [sum(parts) / len(batches) for parts in zip(*batches)]
    norm = np.sqrt(sum(np.square(g, dtype=np.float64).sum() for g in grads))
    # why 3: max_norm is meant for the true gradient, and these are scaled.
    norm /= state["scale"]
    if max_norm < norm < np.inf:
        grads = [g * float(max_norm / norm) for g in grads]
    return train_step(master, grads, state, lr)
