"""Raises on settings that make no sense, eps = 0 among them; eps under the root."""

import numpy as np


def init(params):
    return {"t": 0, "m": [0.0] * len(params), "v": [0.0] * len(params)}


def step(params, grads, state, lr, beta1=0.9, beta2=0.999, eps=1e-8, decay=0.01):
    if lr <= 0:
        raise ValueError("lr must be positive")
    if not (0 <= beta1 < 1 and 0 <= beta2 < 1):
        raise ValueError("betas must lie in [0, 1)")
    if eps <= 0:
        raise ValueError("eps must be positive")
    if decay < 0:
        raise ValueError("decay must not be negative")
    t = state["t"] + 1
    m = [beta1 * a + (1 - beta1) * g for a, g in zip(state["m"], grads)]
    v = [beta2 * b + (1 - beta2) * g**2 for b, g in zip(state["v"], grads)]
    new = []
    for p, a, b in zip(params, m, v):
        m_hat = a / (1 - beta1**t)
        v_hat = b / (1 - beta2**t)
        new.append(p - lr * (m_hat / np.sqrt(v_hat + eps) + decay * p))
    return new, {"t": t, "m": m, "v": v}
