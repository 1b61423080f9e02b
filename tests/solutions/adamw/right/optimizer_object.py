"""Style: an optimizer object as state, with parameter groups like a framework's."""

import collections
import math

import numpy as np


class AdamW:
    __slots__ = ("moments",)

    def __init__(self):
        self.moments = collections.defaultdict(lambda: None)

    def __call__(self, params, grads, lr, betas, eps, decay):
        result = []
        for key, (p, g) in enumerate(zip(params, grads, strict=True)):
            result.append(p if g is None else self._one(key, p, g, lr, betas, eps, decay))
        return result

    def _one(self, key, p, g, lr, betas, eps, decay):
        entry = self.moments[key]
        if entry is None:
            entry = self.moments[key] = [0, np.zeros_like(g), np.zeros_like(g)]
        entry[0] += 1
        c1, c2 = (1 - b ** entry[0] for b in betas)
        for moment, beta, x in ((entry[1], betas[0], g), (entry[2], betas[1], g * g)):
            moment -= (1 - beta) * (moment - x)
        del x
        w = entry[2] / c2
        w **= 0.5
        w += eps
        w = np.divide(entry[1], w, out=w)
        w *= -lr / c1
        w += (1 - lr * decay) * p
        return w


def init(params):
    return AdamW()


def step(params, grads, state, lr, beta1=0.9, beta2=0.999, eps=1e-8, decay=0.01):
    return state(params, grads, lr, (beta1, beta2), eps, decay), state


def lr_at(step, peak, warmup, total):
    if step >= total:
        return 0.0
    return peak * min(step / max(1, warmup), (1 + math.cos(math.pi * max(0, step - warmup) / (total - warmup))) / 2)


def step_in_place(params, grads, state, lr, beta1=0.9, beta2=0.999, eps=1e-8, decay=0.01):
    for key, (p, g) in enumerate(zip(params, grads)):
        if g is not None:
            np.copyto(p, state._one(key, p, g, lr, (beta1, beta2), eps, decay))
    return state
