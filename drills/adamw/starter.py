"""AdamW in numpy, and the learning rate for it."""

import math

import numpy as np


def init(params):
    """Return the state for a list of parameters."""
    return {
        "m": [np.zeros(p.shape) for p in params],
        "v": [np.zeros(p.shape) for p in params],
        "t": 0,
    }


def step(
    params, grads, state, lr, beta1=0.9, beta2=0.999, eps=1e-8, decay=0.01
):
    """Return the new parameters and the new state."""
    state["t"] += 1
    t = state["t"]
    new = []
    for i, (p, g) in enumerate(zip(params, grads)):
        g = np.zeros_like(p) if g is None else g
        g = g + decay * p
        m = state["m"][i] = beta1 * state["m"][i] + (1 - beta1) * g
        v = state["v"][i] = beta2 * state["v"][i] + (1 - beta2) * g * g
        m_hat = m / (1 - beta1**t)
        v_hat = v / (1 - beta2**t)
        moved = p - lr * m_hat / (np.sqrt(v_hat) + eps)
        new.append(moved.astype(p.dtype))
    return new, state


def lr_at(step, peak, warmup, total):
    """Return the learning rate of a step."""
    s = step - 1
    if s < warmup:
        return peak * s / warmup
    along = min(1, (s - warmup) / (total - warmup))
    return peak * 0.5 * (1 + math.cos(math.pi * along))


def step_in_place(
    params, grads, state, lr, beta1=0.9, beta2=0.999, eps=1e-8, decay=0.01
):
    """Part 3."""
    raise NotImplementedError
