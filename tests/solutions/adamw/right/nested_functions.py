"""Style: no loop at all; map over parameters, and a state made of tuples."""

import math

import numpy as np


def init(params):
    return tuple((np.zeros_like(p), np.zeros_like(p), 0) for p in params)


def step(params, grads, state, lr, beta1=0.9, beta2=0.999, eps=1e-8, decay=0.01):
    def one(p, g, slot):
        if g is None:
            return p, slot
        m, v, t = slot

        def fade(moment, beta, value):
            np.multiply(moment, beta, out=moment)
            np.add(moment, (1 - beta) * value, out=moment)

        fade(m, beta1, g)
        fade(v, beta2, np.square(g))
        out = np.divide(v, 1 - beta2 ** (t + 1))
        out = np.reciprocal(np.add(np.sqrt(out, out=out), eps, out=out), out=out)
        out *= m
        out *= lr / (1 - beta1 ** (t + 1))
        return np.subtract((1 - lr * decay) * p, out, out=out), (m, v, t + 1)

    pairs = list(map(one, params, grads, state))
    return [w for w, _ in pairs], tuple(slot for _, slot in pairs)


lr_at = lambda step, peak, warmup, total: (  # noqa: E731
    peak * step / warmup
    if step < warmup
    else peak * (1 - math.sin(0.5 * math.pi * min(1, (step - warmup) / (total - warmup))) ** 2)
)


def step_in_place(params, grads, state, lr, *settings, **named):
    state = list(state)
    for i, (p, g) in enumerate(zip(params, grads)):
        (p[...],), (state[i],) = step([p], [g], [state[i]], lr, *settings, **named)
    return state
