"""The few lines of a minimal repository: one count, lists, the weight updated and then decayed."""

import numpy as np


def init(params):
    ms = [np.zeros_like(p) for p in params]
    vs = [np.zeros_like(p) for p in params]
    return [ms, vs, 0]


def step(params, grads, state, lr, beta1=0.9, beta2=0.999, eps=1e-8, decay=0.01):
    ms, vs, t = state
    t += 1
    out = []
    for i in range(len(params)):
        ms[i] = beta1 * ms[i] + (1 - beta1) * grads[i]
        vs[i] = beta2 * vs[i] + (1 - beta2) * grads[i] ** 2
        mhat = ms[i] / (1 - beta1**t)
        vhat = vs[i] / (1 - beta2**t)
        w = params[i] - lr * mhat / (np.sqrt(vhat) + eps)
        w = w - lr * decay * w
        out.append(w)
    return out, [ms, vs, t]
