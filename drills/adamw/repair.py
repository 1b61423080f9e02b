"""AdamW in numpy, and the learning rate for it."""

import math

import numpy as np


def init(params):
    """Return the state for a list of parameters."""
    return {
        # why 3: np.zeros(p.shape) is float64, twice the bytes of float32
        #      weights.
        "m": [np.zeros_like(p) for p in params],
        "v": [np.zeros_like(p) for p in params],
        # why 2: A parameter without a gradient stands still, its count too.
        "t": [0 for _ in params],
    }


def step(
    params, grads, state, lr, beta1=0.9, beta2=0.999, eps=1e-8, decay=0.01
):
    """Return the new parameters and the new state."""
    # why 2: Each parameter counts its own steps, in the loop.
    new = []
    for i, (p, g) in enumerate(zip(params, grads)):
        # why 2: A missing gradient is not one of zeros: the parameter is passed
        #      over, and so are its moments and its count.
        if g is None:
            new.append(p.copy())
            continue
        state["t"][i] += 1
        t = state["t"][i]
        # why: What is added to the gradient comes out divided by the root of
        #      v, so rarely used weights decayed fast; decay the weight
        #      instead.
        m = state["m"][i] = beta1 * state["m"][i] + (1 - beta1) * g
        v = state["v"][i] = beta2 * state["v"][i] + (1 - beta2) * g * g
        m_hat = m / (1 - beta1**t)
        v_hat = v / (1 - beta2**t)
        # why: Every weight loses the same share, lr * decay, in every step.
        moved = p * (1 - lr * decay) - lr * m_hat / (np.sqrt(v_hat) + eps)
        new.append(moved.astype(p.dtype))
    return new, state


def lr_at(step, peak, warmup, total):
    """Return the learning rate of a step."""
    # why 2: Steps count from 1; counted from 0, the first step has a rate of
    #      0.
    s = step
    if s < warmup:
        return peak * s / warmup
    along = min(1, (s - warmup) / (total - warmup))
    return peak * 0.5 * (1 + math.cos(math.pi * along))


def step_in_place(
    params, grads, state, lr, beta1=0.9, beta2=0.999, eps=1e-8, decay=0.01
):
    # why 3: One parameter at a time, so that one set of temporaries is alive;
    #      *= and -= write into the array, where p = p - x makes another.
    """Write the new weights into the arrays of params, and return the state."""
    for i, (p, g) in enumerate(zip(params, grads)):
        if g is None:
            continue
        state["t"][i] += 1
        t, m, v = state["t"][i], state["m"][i], state["v"][i]
        m *= beta1
        m += (1 - beta1) * g
        v *= beta2
        v += (1 - beta2) * g * g
        p *= 1 - lr * decay
        p -= lr / (1 - beta1**t) * m / (np.sqrt(v / (1 - beta2**t)) + eps)
    return state
