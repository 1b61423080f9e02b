"""Style: the state is a closure for each parameter, which remembers its moments."""

import math

import numpy as np


def _make(p):
    m, v, t = np.zeros_like(p), np.zeros_like(p), 0

    def move(g, lr, beta1, beta2, eps):
        nonlocal t
        t += 1
        m[...] = beta1 * m + (1 - beta1) * g
        v[...] = beta2 * v + (1 - beta2) * np.square(g)
        scaled = np.sqrt(v)
        scaled /= math.sqrt(1 - beta2**t)
        scaled += eps
        np.divide(m, scaled, out=scaled)
        scaled *= lr / (1 - beta1**t)
        return scaled

    return move


def init(params):
    return [_make(p) for p in params]


def step(params, grads, state, lr, beta1=0.9, beta2=0.999, eps=1e-8, decay=0.01):
    new = []
    for p, g, move in zip(params, grads, state, strict=True):
        if g is None:
            new.append(p)
        else:
            change = move(g, lr, beta1, beta2, eps)
            new.append(np.subtract(p * (1 - lr * decay), change, out=change))
    return new, state


def lr_at(step, peak, warmup, total):
    if step <= warmup:
        return peak * step / warmup
    if step >= total:
        return 0.0
    return peak * (1 + math.cos(math.pi * (step - warmup) / (total - warmup))) / 2


def step_in_place(params, grads, state, lr, *settings, **named):
    state = list(state)
    for i, (p, g) in enumerate(zip(params, grads)):
        (p[...],), (state[i],) = step([p], [g], [state[i]], lr, *settings, **named)
    return state
