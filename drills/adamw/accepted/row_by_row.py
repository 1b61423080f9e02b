"""Style: a state by name in a dict, and one row of each parameter at a time."""

import math

import numpy as np


def init(params):
    return dict()


def _first_time(state, key, p):
    if key not in state:
        state[key] = [0, np.zeros(p.shape, p.dtype), np.zeros(p.shape, p.dtype)]
    return state[key]


def step(params, grads, state, lr, beta1=0.9, beta2=0.999, eps=1e-8, decay=0.01):
    new = [p.copy() for p in params]
    for name, (w, g) in enumerate(zip(new, grads)):
        if g is None:
            continue
        own = _first_time(state, name, w)
        own[0] += 1
        a = lr * math.sqrt(1 - beta2 ** own[0]) / (1 - beta1 ** own[0])
        e = eps * math.sqrt(1 - beta2 ** own[0])  # eps as the uncorrected root sees it
        for row in range(len(w)):
            m, v = own[1][row : row + 1], own[2][row : row + 1]
            m[...] = beta1 * m + (1 - beta1) * g[row : row + 1]
            v[...] = beta2 * v + (1 - beta2) * g[row : row + 1] ** 2
            w[row : row + 1] -= lr * decay * w[row : row + 1] + a * m / (np.sqrt(v) + e)
    return new, state


def lr_at(step, peak, warmup, total):
    if step >= total:
        return 0
    if warmup > step:
        return peak / warmup * step
    return 0.5 * peak + 0.5 * peak * math.cos((step - warmup) * math.pi / (total - warmup))


def step_in_place(params, grads, state, lr, *settings, **named):
    for i, (p, g) in enumerate(zip(params, grads)):
        own = {0: state[i]} if i in state else {}
        (p[...],), own = step([p], [g], own, lr, *settings, **named)
        if own:
            state[i] = own[0]
    return state
