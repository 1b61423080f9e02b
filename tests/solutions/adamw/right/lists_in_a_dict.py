"""Style: lists of moments and counts in a dict, updated in place."""

import math

import numpy as np


def init(params):
    return {
        "m": [np.zeros_like(p) for p in params],
        "v": [np.zeros_like(p) for p in params],
        "t": [0 for _ in params],
    }


def step(params, grads, state, lr, beta1=0.9, beta2=0.999, eps=1e-8, decay=0.01):
    new = []
    for i, (p, g) in enumerate(zip(params, grads)):
        if g is None:
            new.append(p.copy())
            continue
        state["t"][i] += 1
        t = state["t"][i]
        m, v = state["m"][i], state["v"][i]
        m *= beta1
        m += (1 - beta1) * g
        v *= beta2
        v += (1 - beta2) * g * g
        update = np.sqrt(v / (1 - beta2**t))
        update += eps
        np.divide(m, update, out=update)
        update *= lr / (1 - beta1**t)
        w = p * (1 - lr * decay)
        w -= update
        new.append(w)
    return new, state


def lr_at(step, peak, warmup, total):
    if step < warmup:
        return peak * step / warmup
    along = min(1.0, (step - warmup) / (total - warmup))
    return peak * 0.5 * (1 + math.cos(math.pi * along))


def step_in_place(params, grads, state, lr, *settings, **named):
    for i, (p, g) in enumerate(zip(params, grads)):
        own = {name: values[i : i + 1] for name, values in state.items()}
        (p[...],), own = step([p], [g], own, lr, *settings, **named)
        for name, values in own.items():
            state[name][i : i + 1] = values
    return state
