"""Style: a generator for each parameter takes gradients and gives moves back."""

import math

import numpy as np


def _moves(p):
    m = np.zeros(p.shape, p.dtype)
    v = np.zeros(p.shape, p.dtype)
    del p  # or the frame would keep the first weights alive
    product1 = product2 = 1.0  # what is left of the zeros that both began with
    while True:
        g, out, lr, beta1, beta2, eps = yield
        product1 *= beta1
        product2 *= beta2
        m *= beta1
        m += (1 - beta1) * g
        v *= beta2
        v += (1 - beta2) * (g * g)
        np.divide(v, 1 - product2, out=out)
        np.sqrt(out, out=out)
        out += eps
        np.divide(m, out, out=out)
        out *= -lr / (1 - product1)
        g = out = None


def init(params):
    state = [_moves(p) for p in params]
    for one in state:
        next(one)
    return state


def step(params, grads, state, lr, beta1=0.9, beta2=0.999, eps=1e-8, decay=0.01):
    new = list(params)
    for i, g in enumerate(grads):
        if g is not None:
            new[i] = np.empty_like(params[i])
            state[i].send((g, new[i], lr, beta1, beta2, eps))
            new[i] += (1 - lr * decay) * params[i]
    return new, state


def lr_at(step, peak, warmup, total):
    if step < warmup:
        return peak * step / warmup
    return peak * math.cos(0.5 * math.pi * min(1, (step - warmup) / (total - warmup))) ** 2


def step_in_place(params, grads, state, lr, *settings, **named):
    state = list(state)
    for i, (p, g) in enumerate(zip(params, grads)):
        (p[...],), (state[i],) = step([p], [g], [state[i]], lr, *settings, **named)
    return state
