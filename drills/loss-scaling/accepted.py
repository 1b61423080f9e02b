# %% closures
"""The state is two functions, which share what they know."""

import numpy as np

def step(master, grads, scale, lr):
    usable = all(map(lambda g: np.isfinite(g).all(), grads))
    rate = lr / scale if usable else 0.0

    def move(p, g):
        return p - rate * g.astype(np.float32) if usable else p

    new = list(map(move, master, grads))
    return new, list(map(np.float16, new))

def init(scale, growth, backoff, interval):
    since = 0

    def look():
        return scale

    def note(usable):
        nonlocal scale, since
        since = since + 1 if usable else 0
        scale = scale if usable else scale * backoff
        if since == interval:
            scale, since = scale * growth, 0

    return look, note

def loss_scale(state):
    return state[0]()

def train_step(master, grads, state, lr):
    look, note = state
    result = step(master, grads, look(), lr)
    note(all(np.isfinite(g).all() for g in grads))
    return *result, state

def big_step(master, batches, state, lr, max_norm):
    look, note = state
    grads = [np.mean(np.stack(parts), axis=0, dtype=np.float32) for parts in zip(*batches)]
    usable = all(np.isfinite(g).all() for g in grads)
    if usable:
        limit = max_norm * look()
        norm = np.linalg.norm([np.linalg.norm(g.ravel()) for g in grads])
        grads = [g * np.float32(limit / max(limit, norm)) for g in grads]
    result = step(master, grads, look(), lr)
    note(usable)
    return *result, state

# %% exponents
"""The scale is kept as an exponent of 2, and undone by ldexp."""

import math
from dataclasses import dataclass, replace

import numpy as np

@dataclass(frozen=True)
class State:
    exponent: int
    up: int
    down: int
    interval: int
    left: int  # steps until the scale grows

def exponent_of(power):
    return round(math.log2(power))

def step(master, grads, scale, lr):
    shift = -exponent_of(scale)
    true = [np.ldexp(g.astype(np.float32), shift) for g in grads]
    return towards(master, true, lr)

def towards(master, true, lr):
    skip = not all(np.isfinite(g).all() for g in true)
    new = [np.array(p, copy=True) if skip else np.subtract(p, lr * g) for p, g in zip(master, true)]
    return new, [np.asarray(w, dtype="float16") for w in new]

def init(scale, growth, backoff, interval):
    return State(exponent_of(scale), exponent_of(growth), exponent_of(backoff), interval, interval)

def loss_scale(state):
    return 2.0**state.exponent

def after(state, skip):
    if skip:
        return replace(state, exponent=state.exponent + state.down, left=state.interval)
    if state.left == 1:
        return replace(state, exponent=state.exponent + state.up, left=state.interval)
    return replace(state, left=state.left - 1)

def train_step(master, grads, state, lr):
    skip = not all(np.isfinite(g).all() for g in grads)
    return *step(master, grads, loss_scale(state), lr), after(state, skip)

def big_step(master, batches, state, lr, max_norm):
    true = []
    for parts in zip(*batches):
        wide = np.array([np.ldexp(g.astype(np.float32), -state.exponent) for g in parts])
        true.append(np.einsum("k...->...", wide) / len(parts))
    skip = not all(np.isfinite(g).all() for g in true)
    norm = 0 if skip else math.sqrt(sum(float(np.vdot(g, g)) for g in true))
    if norm > max_norm:
        true = [g * (max_norm / norm) for g in true]
    return *towards(master, true, lr), after(state, skip)

# %% generators
"""A generator is the state: it yields scales and is sent the outcomes of steps."""

import numpy as np

def scales(scale, growth, backoff, interval):
    while True:
        for _ in range(interval):
            if not (yield scale):
                scale *= backoff
                break
        else:
            scale *= growth

def step(master, grads, scale, lr):
    fine = not any((~np.isfinite(g)).any() for g in grads)
    rate = np.float32(lr / scale)
    new = [p - rate * np.asarray(g, np.float32) if fine else p for p, g in zip(master, grads)]
    return new, [np.array(w, dtype=np.float16) for w in new]

def init(scale, growth, backoff, interval):
    run = scales(scale, growth, backoff, interval)
    return run, next(run)

def loss_scale(state):
    return state[1]

def train_step(master, grads, state, lr):
    run, scale = state
    fine = not any((~np.isfinite(g)).any() for g in grads)
    return *step(master, grads, scale, lr), (run, run.send(fine))

def big_step(master, batches, state, lr, max_norm):
    run, scale = state
    share = np.float32(1 / len(batches))
    mean = [np.add.reduce([share * g for g in parts]) for parts in zip(*batches)]
    fine = not any((~np.isfinite(g)).any() for g in mean)
    if fine:
        norms = [float(np.linalg.norm(g.astype(np.float64))) for g in mean]
        excess = np.hypot.reduce(norms) / (max_norm * scale)
        mean = [g / np.float32(max(1.0, excess)) for g in mean]
    return *step(master, mean, scale, lr), (run, run.send(fine))

# %% history
"""The state is what has happened so far; scale and row are worked out from it each time."""

import numpy as np

def step(master, grads, scale, lr):
    length = sum(np.square(g, dtype=np.float64).sum() for g in grads)
    if not np.isfinite(length):
        new = [0 + p for p in master]
    else:
        new = [
            (p - lr * (g.astype(np.float64) / scale)).astype(p.dtype) for p, g in zip(master, grads)
        ]
    return new, [np.array(w, np.float16) for w in new]

def init(scale, growth, backoff, interval):
    return scale, growth, backoff, interval, ()

def loss_scale(state):
    scale, growth, backoff, interval, history = state
    rows = "".join("." if fine else "x" for fine in history).split("x")
    growths = sum(len(row) // interval for row in rows)
    return scale * backoff ** (len(rows) - 1) * growth**growths

def with_one_more(state, fine):
    return *state[:-1], (*state[-1], fine)

def finite(grads):
    return bool(np.isfinite(np.hstack([g.ravel() for g in grads])).all())

def train_step(master, grads, state, lr):
    new, half = step(master, grads, loss_scale(state), lr)
    return new, half, with_one_more(state, finite(grads))

def big_step(master, batches, state, lr, max_norm):
    scale = loss_scale(state)
    fine = all(finite(grads) for grads in batches)
    if not fine:
        return *step(master, batches[0], scale, 0.0), with_one_more(state, False)
    mean = [sum(np.float64(1) * g for g in parts) / len(batches) for parts in zip(*batches)]
    norm = np.sqrt(sum((g * g).sum() for g in mean)) / scale
    factor = max_norm / norm if norm > max_norm else 1
    return *step(master, [g * factor for g in mean], scale, lr), with_one_more(state, True)

# %% in-place-on-copies
"""Copies first, and all arithmetic in place on them; skipped by try and except."""

import numpy as np

class Overflow(Exception):
    pass

def wide(grads):
    copies = [np.array(g, dtype=np.float32) for g in grads]
    for g in copies:
        if not np.isfinite(g).all():
            raise Overflow
    return copies

def subtract(master, true, lr):
    new = [np.array(p) for p in master]
    for w, g in zip(new, true):
        g *= lr
        w -= g
    return new

def halves(new):
    return [w.astype("e") for w in new]

def step(master, grads, scale, lr):
    try:
        true = wide(grads)
    except Overflow:
        return list(master), halves(master)
    for g in true:
        g /= scale
    new = subtract(master, true, lr)
    return new, halves(new)

def init(scale, growth, backoff, interval):
    return dict(scale=scale, factors=(backoff, growth), interval=interval, row=0)

def loss_scale(state):
    return state["scale"]

def count(state, finite):
    state["row"] += 1
    if not finite or state["row"] == state["interval"]:
        state["scale"] *= state["factors"][finite]
        state["row"] = 0

def train_step(master, grads, state, lr):
    return big_step(master, [grads], state, lr, float("inf"))

def big_step(master, batches, state, lr, max_norm):
    scale = state["scale"]
    try:
        several = [wide(grads) for grads in batches]
    except Overflow:
        count(state, False)
        return list(master), halves(master), state
    total = several[0]
    for others in several[1:]:
        for g, other in zip(total, others):
            g += other
    for g in total:
        g /= scale * len(batches)
    norm = sum(float((g.astype(float) ** 2).sum()) for g in total) ** 0.5
    if norm > max_norm:
        for g in total:
            g *= max_norm / norm
    new = subtract(master, total, lr)
    count(state, True)
    return new, halves(new), state

# %% one-flat-vector
"""All parameters as one float64 vector, cut up again at the end."""

import numpy as np

def flat(arrays):
    return np.concatenate([np.asarray(a, dtype=np.float64).ravel() for a in arrays])

def cut(vector, master):
    ends = np.cumsum([p.size for p in master])[:-1]
    pieces = np.split(vector, ends)
    return [v.reshape(p.shape).astype(np.float32) for v, p in zip(pieces, master)]

def along(master, gradient, lr):
    weights = flat(master)
    if np.isfinite(gradient).all():
        weights = weights - lr * gradient
    new = cut(weights, master)
    return new, [w.astype(np.float16) for w in new]

def step(master, grads, scale, lr):
    return along(master, flat(grads) / scale, lr)

def init(scale, growth, backoff, interval):
    return [scale, 0, growth, backoff, interval]

def loss_scale(state):
    return state[0]

def adjust(state, fine):
    scale, row, growth, backoff, interval = state
    row = row + 1 if fine else 0
    if not fine:
        scale *= backoff
    if row == interval:
        scale, row = scale * growth, 0
    return [scale, row, growth, backoff, interval]

def train_step(master, grads, state, lr):
    fine = bool(np.isfinite(flat(grads)).all())
    return *step(master, grads, state[0], lr), adjust(state, fine)

def big_step(master, batches, state, lr, max_norm):
    gradient = np.mean([flat(grads) for grads in batches], axis=0) / state[0]
    fine = bool(np.isfinite(gradient).all())
    if fine:
        length = np.linalg.norm(gradient)
        gradient = gradient * min(1.0, max_norm / (length + 1e-6))
    return *along(master, gradient, lr), adjust(state, fine)

# %% scaler-class
"""A class in the manner of GradScaler; the state is the object itself, which changes."""

import numpy as np

class Scaler:
    __slots__ = ("backoff", "growth", "interval", "row", "value")

    def __init__(self, value, growth, backoff, interval):
        self.value, self.growth, self.backoff = value, growth, backoff
        self.interval, self.row = interval, 0

    def unscale(self, grads):
        inverse = np.float32(1.0 / self.value)
        return [np.multiply(g, inverse, dtype=np.float32) for g in grads]

    def update(self, found_inf):
        if found_inf:
            self.value *= self.backoff
            self.row = 0
            return
        self.row += 1
        if self.row == self.interval:
            self.value *= self.growth
            self.row = 0

def found_inf(grads):
    return any(not np.isfinite(g).all() for g in grads)

def sgd(master, grads, lr):
    return [p - np.float32(lr) * g for p, g in zip(master, grads)]

def copies(new):
    return new, [w.astype(np.float16) for w in new]

def step(master, grads, scale, lr):
    grads = Scaler(scale, 2.0, 0.5, 1).unscale(grads)
    return copies([p.copy() for p in master] if found_inf(grads) else sgd(master, grads, lr))

def init(scale, growth, backoff, interval):
    return Scaler(scale, growth, backoff, interval)

def loss_scale(state):
    return state.value

def train_step(master, grads, state, lr):
    new, half = step(master, grads, state.value, lr)
    state.update(found_inf(grads))
    return new, half, state

def big_step(master, batches, state, lr, max_norm):
    grads = [np.zeros(p.shape, np.float32) for p in master]
    for batch in batches:
        for total, g in zip(grads, state.unscale(batch)):
            total += g / np.float32(len(batches))
    bad = found_inf(grads)
    if bad:
        new = list(master)
    else:
        norm = np.sqrt(sum(np.vdot(g, g) for g in grads))
        factor = np.float32(min(1.0, max_norm / (float(norm) + 1e-6)))
        new = sgd(master, [factor * g for g in grads], lr)
    state.update(bad)
    return *copies(new), state

# %% scaler-like
# part: 1
"""As a framework's scaler: unscale in place on float32 copies, found_inf, step or not."""

import numpy as np

class GradScaler:
    def __init__(self, init_scale):
        self._scale = init_scale
        self.found_inf = 0.0

    def unscale_(self, grads):
        inv_scale = 1.0 / self._scale
        unscaled = []
        for grad in grads:
            grad = grad.astype(np.float32)
            if np.isinf(grad).any() or np.isnan(grad).any():
                self.found_inf = 1.0
            grad *= inv_scale
            unscaled.append(grad)
        return unscaled

def step(master, grads, scale, lr):
    scaler = GradScaler(scale)
    unscaled = scaler.unscale_(grads)
    if scaler.found_inf:
        new = master
    else:
        new = [param - lr * grad for param, grad in zip(master, unscaled)]
    return list(new), [param.astype(np.float16) for param in new]

# %% unscale-and-check
# part: 1
"""As in write-ups of mixed precision: model and master copies, an overflow check by the sum."""

import numpy as np

def has_overflow(grads):
    for g in grads:
        total = float(g.astype(np.float64).sum())
        if total in (float("inf"), float("-inf")) or total != total:
            return True
    return False

def step(master, grads, scale, lr):
    if has_overflow(grads):
        print("overflow, skipping step")
        master_params = [p.copy() for p in master]
    else:
        master_grads = [g.astype("float32") / scale for g in grads]
        master_params = [p - lr * g for p, g in zip(master, master_grads)]
    model_params = [p.astype("float16") for p in master_params]
    return master_params, model_params
