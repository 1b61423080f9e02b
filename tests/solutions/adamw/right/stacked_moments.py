"""Style: both moments of a parameter in one array with a leading axis of two."""

import math

import numpy as np


def init(params):
    return [[np.zeros((2, *p.shape), p.dtype), 0] for p in params]


def step(params, grads, state, lr, beta1=0.9, beta2=0.999, eps=1e-8, decay=0.01):
    new = []
    for slot, (p, g) in zip(state, zip(params, grads)):
        if g is None:
            new.append(p)
            continue
        slot[1] += 1
        both, left = slot[0], 1.0 - beta2 ** slot[1]
        for moment, beta, power in zip(both, (beta1, beta2), (1, 2)):
            moment *= beta
            moment += (1 - beta) * g**power
        w = np.sqrt(both[1] / left)
        w += eps
        w = np.divide(both[0], w, out=w)
        w *= -lr / (1 - beta1 ** slot[1])
        w += p
        w -= p * (lr * decay)
        new.append(w)
    return new, state


def lr_at(step, peak, warmup, total):
    points = np.arange(total + 1)
    up = points / max(warmup, 1)
    down = (1 + np.cos(np.pi * (points - warmup) / (total - warmup))) / 2
    table = np.where(points < warmup, up, down)
    table[-1] = 0.0
    return float(peak * table[min(step, total)])


def step_in_place(params, grads, state, lr, *settings, **named):
    state = list(state)
    for i, (p, g) in enumerate(zip(params, grads)):
        (p[...],), (state[i],) = step([p], [g], [state[i]], lr, *settings, **named)
    return state
