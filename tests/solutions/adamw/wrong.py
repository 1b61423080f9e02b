# %% style_a
"""Wrong: what eps_forgotten and others have in common, which is not right yet."""

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


# %% style_b
"""Wrong: what gradients_of_norm_one and others have in common, which is not right yet."""

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
