# %% a-class-per-parameter
"""Style: a dataclass for each parameter; the moments are made when the first gradient comes."""

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
        self.steps += 1
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

# %% blocks-in-double
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

# %% closures
"""Style: the state is a closure for each parameter, which remembers its moments."""

import math

import numpy as np

def _make(p):
    m, v, t = np.zeros_like(p), np.zeros_like(p), 0

    def move(g, lr, beta1, beta2, eps):
        nonlocal t
        t += 1
        m[...] = beta1 * m + (1 - beta1) * g
        v[...] = beta2 * v + (1 - beta2) * np.square(g)
        scaled = np.sqrt(v)
        scaled /= math.sqrt(1 - beta2**t)
        scaled += eps
        np.divide(m, scaled, out=scaled)
        scaled *= lr / (1 - beta1**t)
        return scaled

    return move

def init(params):
    return [_make(p) for p in params]

def step(params, grads, state, lr, beta1=0.9, beta2=0.999, eps=1e-8, decay=0.01):
    new = []
    for p, g, move in zip(params, grads, state, strict=True):
        if g is None:
            new.append(p)
        else:
            change = move(g, lr, beta1, beta2, eps)
            new.append(np.subtract(p * (1 - lr * decay), change, out=change))
    return new, state

def lr_at(step, peak, warmup, total):
    if step <= warmup:
        return peak * step / warmup
    if step >= total:
        return 0.0
    return peak * (1 + math.cos(math.pi * (step - warmup) / (total - warmup))) / 2

def step_in_place(params, grads, state, lr, *settings, **named):
    state = list(state)
    for i, (p, g) in enumerate(zip(params, grads)):
        (p[...],), (state[i],) = step([p], [g], [state[i]], lr, *settings, **named)
    return state

# %% generators
"""Style: a generator for each parameter takes gradients and gives moves back."""

import math

import numpy as np

def _moves(p):
    m = np.zeros(p.shape, p.dtype)
    v = np.zeros(p.shape, p.dtype)
    del p  # or the frame would keep the first weights alive
    product1 = product2 = 1.0  # what is left of the zeros that both began with
    while True:
        g, out, lr, beta1, beta2, eps = yield
        product1 *= beta1
        product2 *= beta2
        m *= beta1
        m += (1 - beta1) * g
        v *= beta2
        v += (1 - beta2) * (g * g)
        np.divide(v, 1 - product2, out=out)
        np.sqrt(out, out=out)
        out += eps
        np.divide(m, out, out=out)
        out *= -lr / (1 - product1)
        g = out = None

def init(params):
    state = [_moves(p) for p in params]
    for one in state:
        next(one)
    return state

def step(params, grads, state, lr, beta1=0.9, beta2=0.999, eps=1e-8, decay=0.01):
    new = list(params)
    for i, g in enumerate(grads):
        if g is not None:
            new[i] = np.empty_like(params[i])
            state[i].send((g, new[i], lr, beta1, beta2, eps))
            new[i] += (1 - lr * decay) * params[i]
    return new, state

def lr_at(step, peak, warmup, total):
    if step < warmup:
        return peak * step / warmup
    return peak * math.cos(0.5 * math.pi * min(1, (step - warmup) / (total - warmup))) ** 2

def step_in_place(params, grads, state, lr, *settings, **named):
    state = list(state)
    for i, (p, g) in enumerate(zip(params, grads)):
        (p[...],), (state[i],) = step([p], [g], [state[i]], lr, *settings, **named)
    return state

# %% one-vector-of-moments
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

# %% row-by-row
"""Style: a state by name in a dict, and one row of each parameter at a time."""

import math

import numpy as np

def init(params):
    return dict()

def _first_time(state, key, p):
    if key not in state:
        state[key] = [0, np.zeros(p.shape, p.dtype), np.zeros(p.shape, p.dtype)]
    return state[key]

def step(params, grads, state, lr, beta1=0.9, beta2=0.999, eps=1e-8, decay=0.01):
    new = [p.copy() for p in params]
    for name, (w, g) in enumerate(zip(new, grads)):
        if g is None:
            continue
        own = _first_time(state, name, w)
        own[0] += 1
        a = lr * math.sqrt(1 - beta2 ** own[0]) / (1 - beta1 ** own[0])
        e = eps * math.sqrt(1 - beta2 ** own[0])  # eps as the uncorrected root sees it
        for row in range(len(w)):
            m, v = own[1][row : row + 1], own[2][row : row + 1]
            m[...] = beta1 * m + (1 - beta1) * g[row : row + 1]
            v[...] = beta2 * v + (1 - beta2) * g[row : row + 1] ** 2
            w[row : row + 1] -= lr * decay * w[row : row + 1] + a * m / (np.sqrt(v) + e)
    return new, state

def lr_at(step, peak, warmup, total):
    if step >= total:
        return 0
    if warmup > step:
        return peak / warmup * step
    return 0.5 * peak + 0.5 * peak * math.cos((step - warmup) * math.pi / (total - warmup))

def step_in_place(params, grads, state, lr, *settings, **named):
    for i, (p, g) in enumerate(zip(params, grads)):
        own = {0: state[i]} if i in state else {}
        (p[...],), own = step([p], [g], own, lr, *settings, **named)
        if own:
            state[i] = own[0]
    return state

# %% slots
"""Style: one function for one parameter, which returns a new slot of moments and count."""

import math
from collections import namedtuple

import numpy as np

Slot = namedtuple("Slot", "m v t")

def init(params):
    return [Slot(np.zeros_like(p), np.zeros_like(p), 0) for p in params]

def _one(p, g, slot, lr, beta1, beta2, eps, decay):
    if g is None:
        return p.copy(), slot
    t = slot.t + 1
    m = np.multiply(slot.m, beta1, out=slot.m)
    m += (1 - beta1) * g
    v = np.multiply(slot.v, beta2, out=slot.v)
    v += (1 - beta2) * np.power(g, 2)
    update = np.sqrt(v / (1 - beta2**t))
    np.divide(m, np.add(update, eps, out=update), out=update)
    np.multiply(update, -lr / (1 - beta1**t), out=update)
    update += p
    np.subtract(update, lr * decay * p, out=update)
    return update, Slot(m, v, t)

def step(params, grads, state, lr, beta1=0.9, beta2=0.999, eps=1e-8, decay=0.01):
    pairs = [
        _one(p, g, slot, lr, beta1, beta2, eps, decay)
        for p, g, slot in zip(params, grads, state, strict=True)
    ]
    return [new for new, _ in pairs], [slot for _, slot in pairs]

def lr_at(step, peak, warmup, total):
    match step:
        case s if s < warmup:
            return peak * (s / warmup)
        case s if s > total:
            return 0.0
        case s:
            return peak * 0.5 * (1.0 + math.cos(math.pi * (s - warmup) / (total - warmup)))

def step_in_place(params, grads, state, lr, *settings, **named):
    state = list(state)
    for i, (p, g) in enumerate(zip(params, grads)):
        (p[...],), (state[i],) = step([p], [g], [state[i]], lr, *settings, **named)
    return state

# %% class-with-parameter-groups
# part: 1
"""As a port of a framework's class: defaults in a dict, the state by parameter, eps before the correction."""

import math

import numpy as np

class AdamW:
    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=1e-2):
        if not 0.0 <= lr:
            raise ValueError(f"Invalid learning rate: {lr}")
        if not 0.0 <= eps:
            raise ValueError(f"Invalid epsilon value: {eps}")
        defaults = dict(lr=lr, betas=betas, eps=eps, weight_decay=weight_decay)
        self.param_groups = [{"params": list(params), **defaults}]
        self.state = {}

    def step(self, grads):
        for group in self.param_groups:
            beta1, beta2 = group["betas"]
            for i, (p, grad) in enumerate(zip(group["params"], grads)):
                if grad is None:
                    continue
                state = self.state.setdefault(i, {})
                if len(state) == 0:
                    state["step"] = 0
                    state["exp_avg"] = np.zeros_like(p)
                    state["exp_avg_sq"] = np.zeros_like(p)
                exp_avg, exp_avg_sq = state["exp_avg"], state["exp_avg_sq"]
                state["step"] += 1

                # Decay the first and second moment running average coefficient
                exp_avg *= beta1
                exp_avg += (1.0 - beta1) * grad
                exp_avg_sq *= beta2
                exp_avg_sq += (1.0 - beta2) * grad * grad
                denom = np.sqrt(exp_avg_sq) + group["eps"]

                step_size = group["lr"]
                bias_correction1 = 1.0 - beta1 ** state["step"]
                bias_correction2 = 1.0 - beta2 ** state["step"]
                step_size = step_size * math.sqrt(bias_correction2) / bias_correction1
                p -= step_size * exp_avg / denom

                # Weight decay last, on the updated weight
                if group["weight_decay"] > 0.0:
                    p -= group["lr"] * group["weight_decay"] * p
        return group["params"]

def init(params):
    return AdamW([])

def step(params, grads, state, lr, beta1=0.9, beta2=0.999, eps=1e-8, decay=0.01):
    group = state.param_groups[0]
    group.update(params=[p.copy() for p in params], lr=lr, betas=(beta1, beta2), eps=eps)
    group["weight_decay"] = decay
    return state.step(grads), state

# %% guarded
# part: 1
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

# %% minimal
# part: 1
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

# %% paper-order
# part: 1
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
