"""Style: keeps faded sums and not means; the corrections then divide by the sum of the weights."""

import math

import numpy as np


def _weights(beta, t):
    return math.fsum(beta**age for age in range(t))


def init(params):
    return [{"sum": np.zeros_like(p), "squares": np.zeros_like(p), "t": 0} for p in params]


def step(params, grads, state, lr, beta1=0.9, beta2=0.999, eps=1e-8, decay=0.01):
    new = []
    for p, g, own in zip(params, grads, state):
        if g is None:
            new.append(p.copy())
            continue
        own["t"] += 1
        own["sum"] *= beta1
        own["sum"] += g
        own["squares"] *= beta2
        own["squares"] += g * g
        ratio = own["squares"] / _weights(beta2, own["t"])
        np.sqrt(ratio, out=ratio)
        ratio += eps
        np.divide(own["sum"], ratio, out=ratio)
        ratio *= lr / _weights(beta1, own["t"])
        new.append(np.subtract(p * (1 - lr * decay), ratio, out=ratio))
    return new, state


def lr_at(step, peak, warmup, total):
    if step < warmup:
        return peak - peak * (warmup - step) / warmup
    turn = np.exp(1j * np.pi * min(1, (step - warmup) / (total - warmup)))
    return float(peak * (1 + turn.real) / 2)


def step_in_place(params, grads, state, lr, *settings, **named):
    state = list(state)
    for i, (p, g) in enumerate(zip(params, grads)):
        (p[...],), (state[i],) = step([p], [g], [state[i]], lr, *settings, **named)
    return state
