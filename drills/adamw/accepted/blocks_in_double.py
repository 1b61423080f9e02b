"""Style: float64 inside, one block of entries after the other; what is kept has the given dtype."""

import math

import numpy as np

BLOCK = 256


def init(params):
    return {
        "moments": [np.zeros((2, p.size), dtype=p.dtype) for p in params],
        "count": [0 for _ in params],
    }


def step(params, grads, state, lr, beta1=0.9, beta2=0.999, eps=1e-8, decay=0.01):
    new = []
    for i, (p, g) in enumerate(zip(params, grads)):
        out = p.flatten()
        if g is not None:
            state["count"][i] += 1
            kept, gradient = state["moments"][i], g.ravel()
            for start in range(0, out.size, BLOCK):
                part = slice(start, start + BLOCK)
                m, v = kept[:, part].astype(np.float64)
                gd = gradient[part].astype(np.float64)
                m = beta1 * m + (1 - beta1) * gd
                v = beta2 * v + (1 - beta2) * gd**2
                kept[0, part], kept[1, part] = m, v
                m_hat = m / (1 - beta1 ** state["count"][i])
                v_hat = v / (1 - beta2 ** state["count"][i])
                old = out[part].astype(np.float64)
                out[part] = old - lr * (m_hat / (np.sqrt(v_hat) + eps) + decay * old)
        new.append(out.reshape(p.shape))
    return new, state


def lr_at(step, peak, warmup, total):
    along = np.clip((step - warmup) / (total - warmup), 0, 1)
    return np.where(step < warmup, peak * step / max(warmup, 1), peak * (1 + np.cos(np.pi * along)) / 2)[()]


def step_in_place(params, grads, state, lr, *settings, **named):
    for i, (p, g) in enumerate(zip(params, grads)):
        own = {name: values[i : i + 1] for name, values in state.items()}
        (p[...],), own = step([p], [g], own, lr, *settings, **named)
        for name, values in own.items():
            state[name][i : i + 1] = values
    return state
