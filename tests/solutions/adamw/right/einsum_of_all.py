"""Style: corrections by logarithms, squares by einsum, and moments that begin with the first gradient."""

import math

import numpy as np


def init(params):
    n = len(params)
    return dict(zip(("first", "second", "count"), ([None] * n, [None] * n, np.zeros(n, np.int64))))


def _c(beta, t):
    return -math.expm1(t * math.log(beta)) if beta > 0 else 1.0


def step(params, grads, state, lr, beta1=0.9, beta2=0.999, eps=1e-8, decay=0.01):
    out = [None] * len(params)
    for i, (p, g) in enumerate(zip(params, grads)):
        if g is None:
            out[i] = np.positive(p)
            continue
        state["count"][i] += 1
        t = int(state["count"][i])
        if state["first"][i] is None:
            state["first"][i] = (1 - beta1) * g
            state["second"][i] = np.einsum("...,...->...", (1 - beta2) * g, g)
        else:
            m, v = state["first"][i], state["second"][i]
            np.multiply(m, beta1, out=m)
            np.add(m, (1 - beta1) * g, out=m)
            np.multiply(v, beta2, out=v)
            np.add(v, np.einsum("...,...->...", g, (1 - beta2) * g), out=v)
        m, v = state["first"][i], state["second"][i]
        w = np.sqrt(v)
        w *= _c(beta2, t) ** -0.5
        w += eps
        np.true_divide(m, w, out=w)
        w *= lr / _c(beta1, t)
        np.negative(w, out=w)
        w += p
        w -= (lr * decay) * p
        out[i] = w
    return out, state


def lr_at(step, peak, warmup, total):
    if step <= warmup:
        return np.float64(peak) * step / warmup
    return peak * np.cos(np.pi / 2 * min(1, (step - warmup) / (total - warmup))) ** 2


def step_in_place(params, grads, state, lr, *settings, **named):
    for i, (p, g) in enumerate(zip(params, grads)):
        own = {name: values[i : i + 1] for name, values in state.items()}
        (p[...],), own = step([p], [g], own, lr, *settings, **named)
        for name, values in own.items():
            state[name][i : i + 1] = values
    return state
