# %% einsum_of_all
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


# %% float32_careful
"""Style: every number has the dtype of the weights, those of float32 too."""

import math

import numpy as np


def init(params):
    return {i: [np.zeros(p.shape, dtype=p.dtype) for _ in "mv"] + [0] for i, p in enumerate(params)}


def step(params, grads, state, lr, beta1=0.9, beta2=0.999, eps=1e-8, decay=0.01):
    new = []
    for i, (p, g) in enumerate(zip(params, grads)):
        number = p.dtype.type
        if g is None:
            new.append(np.array(p, copy=True))
            continue
        m, v, t = state[i]
        state[i][2] = t = t + 1
        # 1 - beta is rounded once, from the double: 1 - float32(0.999) would be off by 1e-5.
        m *= number(beta1)
        m += g * number(1.0 - beta1)
        v *= number(beta2)
        v += np.square(g) * number(1.0 - beta2)
        scratch = v * number(1.0 / (1.0 - beta2**t))
        np.sqrt(scratch, out=scratch)
        np.add(scratch, number(eps), out=scratch)
        np.divide(m, scratch, out=scratch)
        np.multiply(scratch, number(-lr / (1.0 - beta1**t)), out=scratch)
        new.append(np.add(p * number(1.0 - lr * decay), scratch, out=scratch))
        assert new[-1].dtype == p.dtype
    return new, state


def lr_at(step, peak, warmup, total):
    if step < warmup:
        return step * (peak / warmup)
    return peak * (1 + math.cos(math.pi * min(step - warmup, total - warmup) / (total - warmup))) / 2


def step_in_place(params, grads, state, lr, *settings, **named):
    for i, (p, g) in enumerate(zip(params, grads)):
        own = {0: state[i]} if i in state else {}
        (p[...],), own = step([p], [g], own, lr, *settings, **named)
        if own:
            state[i] = own[0]
    return state


# %% in_place_on_copies
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


# %% lists_in_a_dict
"""Style: lists of moments and counts in a dict, updated in place."""

import math

import numpy as np


def init(params):
    return {
        "m": [np.zeros_like(p) for p in params],
        "v": [np.zeros_like(p) for p in params],
        "t": [0 for _ in params],
    }


def step(params, grads, state, lr, beta1=0.9, beta2=0.999, eps=1e-8, decay=0.01):
    new = []
    for i, (p, g) in enumerate(zip(params, grads)):
        if g is None:
            new.append(p.copy())
            continue
        state["t"][i] += 1
        t = state["t"][i]
        m, v = state["m"][i], state["v"][i]
        m *= beta1
        m += (1 - beta1) * g
        v *= beta2
        v += (1 - beta2) * g * g
        update = np.sqrt(v / (1 - beta2**t))
        update += eps
        np.divide(m, update, out=update)
        update *= lr / (1 - beta1**t)
        w = p * (1 - lr * decay)
        w -= update
        new.append(w)
    return new, state


def lr_at(step, peak, warmup, total):
    if step < warmup:
        return peak * step / warmup
    along = min(1.0, (step - warmup) / (total - warmup))
    return peak * 0.5 * (1 + math.cos(math.pi * along))


def step_in_place(params, grads, state, lr, *settings, **named):
    for i, (p, g) in enumerate(zip(params, grads)):
        own = {name: values[i : i + 1] for name, values in state.items()}
        (p[...],), own = step([p], [g], own, lr, *settings, **named)
        for name, values in own.items():
            state[name][i : i + 1] = values
    return state


# %% nested_functions
"""Style: no loop at all; map over parameters, and a state made of tuples."""

import math

import numpy as np


def init(params):
    return tuple((np.zeros_like(p), np.zeros_like(p), 0) for p in params)


def step(params, grads, state, lr, beta1=0.9, beta2=0.999, eps=1e-8, decay=0.01):
    def one(p, g, slot):
        if g is None:
            return p, slot
        m, v, t = slot

        def fade(moment, beta, value):
            np.multiply(moment, beta, out=moment)
            np.add(moment, (1 - beta) * value, out=moment)

        fade(m, beta1, g)
        fade(v, beta2, np.square(g))
        out = np.divide(v, 1 - beta2 ** (t + 1))
        out = np.reciprocal(np.add(np.sqrt(out, out=out), eps, out=out), out=out)
        out *= m
        out *= lr / (1 - beta1 ** (t + 1))
        return np.subtract((1 - lr * decay) * p, out, out=out), (m, v, t + 1)

    pairs = list(map(one, params, grads, state))
    return [w for w, _ in pairs], tuple(slot for _, slot in pairs)


lr_at = lambda step, peak, warmup, total: (  # noqa: E731
    peak * step / warmup
    if step < warmup
    else peak * (1 - math.sin(0.5 * math.pi * min(1, (step - warmup) / (total - warmup))) ** 2)
)


def step_in_place(params, grads, state, lr, *settings, **named):
    state = list(state)
    for i, (p, g) in enumerate(zip(params, grads)):
        (p[...],), (state[i],) = step([p], [g], [state[i]], lr, *settings, **named)
    return state


# %% optimizer_object
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


# %% plain_loops
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


# %% slots_with_a_method
"""Style: an object for each parameter, whose method returns the new weights."""

from math import cos, pi, sqrt

import numpy as np


class Slot:
    def __init__(self, shape, dtype):
        self.mean = np.zeros(shape, dtype)
        self.square = np.zeros(shape, dtype)
        self.age = 0

    def step(self, w, g, lr, beta1, beta2, eps, decay):
        self.age += 1
        self.mean += (g - self.mean) * (1 - beta1)
        self.square += (g * g - self.square) * (1 - beta2)
        move = np.sqrt(self.square)
        move /= sqrt(1 - beta2**self.age)
        move += eps
        np.divide(self.mean, move, out=move)
        move *= lr / (1 - beta1**self.age)
        kept = w * (1 - lr * decay)
        return np.subtract(kept, move, out=kept)


def init(params):
    return [Slot(p.shape, p.dtype) for p in params]


def step(params, grads, state, lr, beta1=0.9, beta2=0.999, eps=1e-8, decay=0.01):
    new = list(params)
    for i, g in enumerate(grads):
        if g is not None:
            new[i] = state[i].step(params[i], g, lr, beta1, beta2, eps, decay)
    return new, state


def lr_at(step, peak, warmup, total):
    if step >= total:
        return 0.0
    if step <= warmup:
        return peak * step / warmup
    return peak * (0.5 + 0.5 * cos(pi * (step - warmup) / (total - warmup)))


def step_in_place(params, grads, state, lr, *settings, **named):
    state = list(state)
    for i, (p, g) in enumerate(zip(params, grads)):
        (p[...],), (state[i],) = step([p], [g], [state[i]], lr, *settings, **named)
    return state


# %% stacked_moments
"""Style: both moments of a parameter in one array with a leading axis of two."""

import math

import numpy as np


def init(params):
    return [[np.zeros((2, *p.shape), p.dtype), 0] for p in params]


def step(params, grads, state, lr, beta1=0.9, beta2=0.999, eps=1e-8, decay=0.01):
    new = []
    for slot, (p, g) in zip(state, zip(params, grads)):
        if g is None:
            new.append(p)
            continue
        slot[1] += 1
        both, left = slot[0], 1.0 - beta2 ** slot[1]
        for moment, beta, power in zip(both, (beta1, beta2), (1, 2)):
            moment *= beta
            moment += (1 - beta) * g**power
        w = np.sqrt(both[1] / left)
        w += eps
        w = np.divide(both[0], w, out=w)
        w *= -lr / (1 - beta1 ** slot[1])
        w += p
        w -= p * (lr * decay)
        new.append(w)
    return new, state


def lr_at(step, peak, warmup, total):
    points = np.arange(total + 1)
    up = points / max(warmup, 1)
    down = (1 + np.cos(np.pi * (points - warmup) / (total - warmup))) / 2
    table = np.where(points < warmup, up, down)
    table[-1] = 0.0
    return float(peak * table[min(step, total)])


def step_in_place(params, grads, state, lr, *settings, **named):
    state = list(state)
    for i, (p, g) in enumerate(zip(params, grads)):
        (p[...],), (state[i],) = step([p], [g], [state[i]], lr, *settings, **named)
    return state


# %% sums_instead_of_means
"""Style: keeps faded sums and not means; the corrections then divide by the sum of the weights."""

import math

import numpy as np


def _weights(beta, t):
    return math.fsum(beta**age for age in range(t))


def init(params):
    return [{"sum": np.zeros_like(p), "squares": np.zeros_like(p), "t": 0} for p in params]


def step(params, grads, state, lr, beta1=0.9, beta2=0.999, eps=1e-8, decay=0.01):
    new = []
    for p, g, own in zip(params, grads, state):
        if g is None:
            new.append(p.copy())
            continue
        own["t"] += 1
        own["sum"] *= beta1
        own["sum"] += g
        own["squares"] *= beta2
        own["squares"] += g * g
        ratio = own["squares"] / _weights(beta2, own["t"])
        np.sqrt(ratio, out=ratio)
        ratio += eps
        np.divide(own["sum"], ratio, out=ratio)
        ratio *= lr / _weights(beta1, own["t"])
        new.append(np.subtract(p * (1 - lr * decay), ratio, out=ratio))
    return new, state


def lr_at(step, peak, warmup, total):
    if step < warmup:
        return peak - peak * (warmup - step) / warmup
    turn = np.exp(1j * np.pi * min(1, (step - warmup) / (total - warmup)))
    return float(peak * (1 + turn.real) / 2)


def step_in_place(params, grads, state, lr, *settings, **named):
    state = list(state)
    for i, (p, g) in enumerate(zip(params, grads)):
        (p[...],), (state[i],) = step([p], [g], [state[i]], lr, *settings, **named)
    return state
