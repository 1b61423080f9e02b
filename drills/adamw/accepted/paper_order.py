"""The shorter form of Adam's section 2: one rate with both corrections, eps beside the plain root."""

import numpy as np


class State:
    def __init__(self, params):
        self.t = 0
        self.m = [np.zeros_like(p) for p in params]
        self.v = [np.zeros_like(p) for p in params]


init = State


def step(params, grads, state, lr, beta1=0.9, beta2=0.999, eps=1e-8, decay=0.01):
    state.t += 1
    alpha_t = lr * np.sqrt(1 - beta2**state.t) / (1 - beta1**state.t)
    updated = []
    for p, g, m, v in zip(params, grads, state.m, state.v):
        np.add(beta1 * m, (1 - beta1) * g, out=m)
        np.add(beta2 * v, (1 - beta2) * g * g, out=v)
        theta = p - lr * decay * p
        updated.append(theta - alpha_t * m / (np.sqrt(v) + eps))
    return updated, state
