"""Style: plain Python loops over single entries, numbers of Python inside."""

import math

import numpy as np


def init(params):
    return [(np.zeros(p.shape, p.dtype), np.zeros(p.shape, p.dtype), [0]) for p in params]


def step(params, grads, state, lr, beta1=0.9, beta2=0.999, eps=1e-8, decay=0.01):
    new = []
    for k in range(len(params)):
        w = np.empty(params[k].shape, params[k].dtype)
        w[...] = params[k]
        new.append(w)
        if grads[k] is None:
            continue
        first, second, count = state[k]
        count[0] += 1
        for index in np.ndindex(*w.shape):
            g = float(grads[k][index])
            m = beta1 * float(first[index]) + (1 - beta1) * g
            v = beta2 * float(second[index]) + (1 - beta2) * g * g
            first[index], second[index] = m, v
            m_hat = m / (1 - beta1 ** count[0])
            v_hat = v / (1 - beta2 ** count[0])
            old = float(w[index])
            w[index] = old - lr * decay * old - lr * m_hat / (math.sqrt(v_hat) + eps)
    return new, state


def lr_at(step, peak, warmup, total):
    rate = 0.0
    if step <= warmup:
        for _ in range(step):
            rate += peak / warmup
    elif step < total:
        rate = peak / 2 * (1 + math.cos((step - warmup) / (total - warmup) * math.pi))
    return rate


def step_in_place(params, grads, state, lr, *settings, **named):
    state = list(state)
    for i, (p, g) in enumerate(zip(params, grads)):
        (p[...],), (state[i],) = step([p], [g], [state[i]], lr, *settings, **named)
    return state
