"""Wrong: one step size with both corrections, eps at the raw root, and the decay after the step."""
# named: short-form-then-decay

import math
from collections import namedtuple

import numpy as np

Slot = namedtuple("Slot", "m v t")

def init(params):
    return [Slot(np.zeros_like(p), np.zeros_like(p), 0) for p in params]

def _one(p, g, slot, lr, beta1, beta2, eps, decay):
    if g is None:
        return p.copy(), slot
    t = slot.t + 1
    m = np.multiply(slot.m, beta1, out=slot.m)
    m += (1 - beta1) * g
    v = np.multiply(slot.v, beta2, out=slot.v)
    v += (1 - beta2) * np.power(g, 2)
    update = np.sqrt(v)
    np.divide(m, np.add(update, eps, out=update), out=update)
    np.multiply(update, -lr * math.sqrt(1 - beta2**t) / (1 - beta1**t), out=update)
    update += p
    np.subtract(update, lr * decay * update, out=update)
    return update, Slot(m, v, t)

def step(params, grads, state, lr, beta1=0.9, beta2=0.999, eps=1e-8, decay=0.01):
    pairs = [
        _one(p, g, slot, lr, beta1, beta2, eps, decay)
        for p, g, slot in zip(params, grads, state, strict=True)
    ]
    return [new for new, _ in pairs], [slot for _, slot in pairs]

def lr_at(step, peak, warmup, total):
    match step:
        case s if s < warmup:
            return peak * (s / warmup)
        case s if s > total:
            return 0.0
        case s:
            return peak * 0.5 * (1.0 + math.cos(math.pi * (s - warmup) / (total - warmup)))

def step_in_place(params, grads, state, lr, *settings, **named):
    state = list(state)
    for i, (p, g) in enumerate(zip(params, grads)):
        (p[...],), (state[i],) = step([p], [g], [state[i]], lr, *settings, **named)
    return state
