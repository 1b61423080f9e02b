"""Style: a byte order mark, CRLF line ends, and some noise."""

print("loaded")

from math import cos, pi, sqrt

import numpy as np


class Slot:
    def __init__(self, shape, dtype):
        self.mean = np.zeros(shape, dtype)
        self.square = np.zeros(shape, dtype)
        self.age = 0

    def step(self, w, g, lr, beta1, beta2, eps, decay):
        self.age += 1
        self.mean += (g - self.mean) * (1 - beta1)
        self.square += (g * g - self.square) * (1 - beta2)
        move = np.sqrt(self.square)
        move /= sqrt(1 - beta2**self.age)
        move += eps
        np.divide(self.mean, move, out=move)
        move *= lr / (1 - beta1**self.age)
        kept = w * (1 - lr * decay)
        return np.subtract(kept, move, out=kept)


def init(params):
    return [Slot(p.shape, p.dtype) for p in params]


def step(params, grads, state, lr, beta1=0.9, beta2=0.999, eps=1e-8, decay=0.01):
    new = list(params)
    for i, g in enumerate(grads):
        if g is not None:
            new[i] = state[i].step(params[i], g, lr, beta1, beta2, eps, decay)
    return new, state


def lr_at(step, peak, warmup, total):
    if step >= total:
        return 0.0
    if step <= warmup:
        return peak * step / warmup
    return peak * (0.5 + 0.5 * cos(pi * (step - warmup) / (total - warmup)))


def step_in_place(params, grads, state, lr, *settings, **named):
    state = list(state)
    for i, (p, g) in enumerate(zip(params, grads)):
        (p[...],), (state[i],) = step([p], [g], [state[i]], lr, *settings, **named)
    return state
