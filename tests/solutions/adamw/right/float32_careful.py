"""Style: every number has the dtype of the weights, those of float32 too."""

import math

import numpy as np


def init(params):
    return {i: [np.zeros(p.shape, dtype=p.dtype) for _ in "mv"] + [0] for i, p in enumerate(params)}


def step(params, grads, state, lr, beta1=0.9, beta2=0.999, eps=1e-8, decay=0.01):
    new = []
    for i, (p, g) in enumerate(zip(params, grads)):
        number = p.dtype.type
        if g is None:
            new.append(np.array(p, copy=True))
            continue
        m, v, t = state[i]
        state[i][2] = t = t + 1
        # 1 - beta is rounded once, from the double: 1 - float32(0.999) would be off by 1e-5.
        m *= number(beta1)
        m += g * number(1.0 - beta1)
        v *= number(beta2)
        v += np.square(g) * number(1.0 - beta2)
        scratch = v * number(1.0 / (1.0 - beta2**t))
        np.sqrt(scratch, out=scratch)
        np.add(scratch, number(eps), out=scratch)
        np.divide(m, scratch, out=scratch)
        np.multiply(scratch, number(-lr / (1.0 - beta1**t)), out=scratch)
        new.append(np.add(p * number(1.0 - lr * decay), scratch, out=scratch))
        assert new[-1].dtype == p.dtype
    return new, state


def lr_at(step, peak, warmup, total):
    if step < warmup:
        return step * (peak / warmup)
    return peak * (1 + math.cos(math.pi * min(step - warmup, total - warmup) / (total - warmup))) / 2


def step_in_place(params, grads, state, lr, *settings, **named):
    for i, (p, g) in enumerate(zip(params, grads)):
        own = {0: state[i]} if i in state else {}
        (p[...],), own = step([p], [g], own, lr, *settings, **named)
        if own:
            state[i] = own[0]
    return state
