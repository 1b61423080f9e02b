"""Style: one long vector for all first moments, one for all second ones; views of them by parameter."""

import math

import numpy as np


def init(params):
    total = sum(p.size for p in params)
    return {
        "m": np.zeros(total, params[0].dtype),
        "v": np.zeros(total, params[0].dtype),
        "t": np.zeros(len(params), int),
        "ends": np.cumsum([p.size for p in params]),
    }


def _view(vector, state, i, shape):
    end = int(state["ends"][i])
    return vector[end - math.prod(shape) : end].reshape(shape)


def step(params, grads, state, lr, beta1=0.9, beta2=0.999, eps=1e-8, decay=0.01):
    new = [np.array(p, order="C") for p in params]
    return new, step_in_place(new, grads, state, lr, beta1, beta2, eps, decay)


def step_in_place(params, grads, state, lr, beta1=0.9, beta2=0.999, eps=1e-8, decay=0.01):
    for i, (w, g) in enumerate(zip(params, grads)):
        if g is not None:
            state["t"][i] += 1
            t = int(state["t"][i])
            m, v = (_view(state[name], state, i, w.shape) for name in "mv")
            scratch = np.subtract(g, m)
            scratch *= 1 - beta1
            m += scratch
            np.multiply(g, g, out=scratch)
            scratch -= v
            scratch *= 1 - beta2
            v += scratch
            np.sqrt(v, out=scratch)
            scratch /= math.sqrt(1 - beta2**t)
            scratch += eps
            np.divide(m, scratch, out=scratch)
            scratch *= lr / (1 - beta1**t)
            w *= 1 - lr * decay
            w -= scratch
    return state


def lr_at(step, peak, warmup, total):
    shape = [(0, 0.0), (warmup, peak)] if warmup else [(0, peak)]
    if step <= warmup:
        return float(np.interp(step, *zip(*shape)))
    return peak * (1 - math.sin(math.pi / 2 * min(1, (step - warmup) / (total - warmup))) ** 2)
