"""Style: copies the weights first and updates the copies as a framework updates its own."""

from functools import partial
from math import cos, pi, sqrt

import numpy as np


def init(params):
    state = dict(step=[0] * len(params))
    for name in ("exp_avg", "exp_avg_sq"):
        state[name] = list(map(np.zeros_like, params))
    return state


def _adamw_(param, grad, exp_avg, exp_avg_sq, step, *, lr, beta1, beta2, eps, decay):
    param *= 1 - lr * decay
    exp_avg += (1 - beta1) * (grad - exp_avg)
    exp_avg_sq *= beta2
    exp_avg_sq += (1 - beta2) * grad * grad
    denom = np.sqrt(exp_avg_sq)
    denom /= sqrt(1 - beta2**step)
    denom += eps
    np.divide(exp_avg, denom, out=denom)
    denom *= lr / (1 - beta1**step)
    param -= denom


def step(params, grads, state, lr, beta1=0.9, beta2=0.999, eps=1e-8, decay=0.01):
    update_ = partial(_adamw_, lr=lr, beta1=beta1, beta2=beta2, eps=eps, decay=decay)
    new = []
    for i, (p, g) in enumerate(zip(params, grads)):
        w = p.copy()
        if g is not None:
            state["step"][i] += 1
            if w.nbytes > 4096:  # by halves, to save memory
                half = len(w) // 2
                for part in (slice(0, half), slice(half, None)):
                    update_(w[part], g[part], state["exp_avg"][i][part], state["exp_avg_sq"][i][part], state["step"][i])
            else:
                update_(w, g, state["exp_avg"][i], state["exp_avg_sq"][i], state["step"][i])
        new.append(w)
    return new, state


def lr_at(step, peak, warmup, total):
    factor = step / warmup if step < warmup else 0.5 * (1 + cos(pi * min(1.0, (step - warmup) / (total - warmup))))
    return factor * peak


def step_in_place(params, grads, state, lr, *settings, **named):
    for i, (p, g) in enumerate(zip(params, grads)):
        own = {name: values[i : i + 1] for name, values in state.items()}
        (p[...],), own = step([p], [g], own, lr, *settings, **named)
        for name, values in own.items():
            state[name][i : i + 1] = values
    return state
