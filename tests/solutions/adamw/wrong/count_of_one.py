"""Wrong: the step count is made 1 in every step, so that every step is corrected like the first."""
# named: count-never-moves

from dataclasses import dataclass
from math import cos, pi, sqrt

import numpy as np

@dataclass
class Moments:
    first: np.ndarray | None = None
    second: np.ndarray | None = None
    steps: int = 0

    def take(self, g, beta1, beta2):
        if self.first is None:
            self.first, self.second = np.zeros_like(g), np.zeros_like(g)
        self.steps = 1
        self.first += (1 - beta1) * (g - self.first)  # the same mean, written as an approach
        self.second += (1 - beta2) * (g * g - self.second)

    def direction(self, beta1, beta2, eps):
        out = np.sqrt(self.second)
        out *= 1 / sqrt(1 - beta2**self.steps)
        out += eps
        np.divide(self.first, out, out=out)
        out /= 1 - beta1**self.steps
        return out

def init(params):
    return tuple(Moments() for _ in params)

def step(params, grads, state, lr, beta1=0.9, beta2=0.999, eps=1e-8, decay=0.01):
    def moved(p, g, moments):
        if g is None:
            return p.copy()
        moments.take(g, beta1, beta2)
        out = moments.direction(beta1, beta2, eps)
        out *= -lr
        out += p * (1 - lr * decay)
        return out

    return [moved(*one) for one in zip(params, grads, state)], state

def lr_at(step, peak, warmup, total):
    rising = step / warmup if warmup else 1.0
    along = (min(max(step, warmup), total) - warmup) / (total - warmup)
    return peak * min(1.0, rising) * (0.5 + 0.5 * cos(pi * along))

def step_in_place(params, grads, state, lr, *settings, **named):
    state = list(state)
    for i, (p, g) in enumerate(zip(params, grads)):
        (p[...],), (state[i],) = step([p], [g], [state[i]], lr, *settings, **named)
    return state
