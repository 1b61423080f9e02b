# %% copies-and-deque
"""The step clips copies of its own; the alarm keeps a window that forgets by itself."""

import collections
import math

import numpy as np

WHY = {"next": "c", "climb": "a", "stuck": "b"}

def measured(grads):
    return math.hypot(*(np.linalg.norm(np.asarray(g, dtype=np.float64)) for g in grads))

def shortened(grads, norm, max_norm):
    return [g * min(1.0, max_norm / norm) if norm else g for g in grads]

def clip(grads, max_norm):
    norm = measured(grads)
    for g, short in zip(grads, shortened(grads, norm, max_norm)):
        g[...] = short
    return norm

def train_step(params, batch, loss_and_grads, opt, max_norm):
    loss, grads = loss_and_grads(params, batch)
    norm = measured(grads)
    skipped = not (math.isfinite(norm) and math.isfinite(loss))
    if not skipped:
        opt.step(params, shortened(grads, norm, max_norm))
    return {"loss": float(loss), "grad_norm": norm, "skipped": skipped, "clipped": norm > max_norm}

def find_spikes(norms, window=100, factor=100.0):
    near, found = collections.deque(maxlen=window), []
    for step, norm in enumerate(norms):
        finite = [n for n in near if n is not None]
        if not math.isfinite(norm):
            found.append(step)
            near.append(None)
            continue
        if finite and norm > factor * np.median(finite):
            found.append(step)
        near.append(norm)
    return found

# %% guard-class
"""An object that looks at a batch's gradients, and decides what becomes of them."""

import math

import numpy as np

WHY = dict(next="c", climb="a", stuck="b")

class Gradients:
    def __init__(self, arrays):
        self.arrays = arrays

    @property
    def finite(self):
        return not any((~np.isfinite(a)).any() for a in self.arrays)

    @property
    def norm(self):
        squares = (np.vdot(a, a) for a in map(np.float64, self.arrays))
        return math.sqrt(sum(squares))

    def shorten(self, limit):
        before = self.norm
        if before > limit:
            for a in self.arrays:
                a /= before / limit
        return before

def clip(grads, max_norm):
    return Gradients(grads).shorten(max_norm)

def train_step(params, batch, loss_and_grads, opt, max_norm):
    loss, arrays = loss_and_grads(params, batch)
    grads = Gradients(arrays)
    log = {"loss": loss, "grad_norm": math.inf, "skipped": False}
    if math.isfinite(loss) and grads.finite:
        log["grad_norm"] = grads.shorten(max_norm)
        opt.step(params, grads.arrays)
    else:
        log["skipped"] = True
    return log

class Alarm:
    def __init__(self, window, factor):
        self.window, self.factor, self.seen = window, factor, []

    def rings(self, norm):
        usual = [n for n in self.seen[-self.window :] if math.isfinite(n)]
        self.seen.append(norm)
        if math.isfinite(norm):
            return bool(usual) and norm > self.factor * np.median(usual)
        return True

def find_spikes(norms, window=100, factor=100.0):
    alarm = Alarm(window, factor)
    return [step for step, norm in enumerate(norms) if alarm.rings(norm)]

# %% largest-first
"""Divides by the largest magnitude before it squares, in the dtype of the gradients."""

import numpy as np

WHY = {"stuck": "b", "climb": "a", "next": "c"}

def clip(grads, max_norm):
    top = max((np.abs(g).max() for g in grads), default=0)
    if top == 0:
        return 0.0
    norm = float(top) * float(np.sqrt(sum(np.square(g / top).sum() for g in grads)))
    for g in grads:
        g *= min(1.0, max_norm / norm)
    return norm

def all_finite(*things):
    return all(np.isfinite(thing).all() for thing in things)

def train_step(params, batch, loss_and_grads, opt, max_norm):
    loss, grads = loss_and_grads(params, batch)
    if not all_finite(loss, *grads):
        return dict(loss=loss, grad_norm=np.nan, skipped=True)
    norm = clip(grads, max_norm)
    opt.step(params, grads)
    return dict(loss=loss, grad_norm=norm, skipped=False)

def find_spikes(norms, window=100, factor=100.0):
    padded = np.concatenate([np.full(window, np.nan), np.asarray(norms, dtype=float)])
    padded[~np.isfinite(padded)] = np.nan
    found = []
    for step, norm in enumerate(norms):
        near = padded[step : step + window]
        usual = np.nan if np.isnan(near).all() else np.nanmedian(near)
        if not np.isfinite(norm) or norm > factor * usual:
            found.append(step)
    return found

# %% one-long-vector
"""All entries in one float64 vector; a norm that is not finite says that an entry is not."""

import numpy as np

WHY = {"next": "c", "climb": "a", "stuck": "b"}

def clip(grads, max_norm):
    every = np.concatenate([np.ravel(g).astype(np.float64) for g in grads])
    norm = np.sqrt(every @ every)
    if norm > max_norm:
        for g in grads:
            g *= max_norm / norm
    return norm

def train_step(params, batch, loss_and_grads, opt, max_norm):
    loss, grads = loss_and_grads(params, batch)
    norm = clip(grads, max_norm)
    finite = bool(np.isfinite([loss, norm]).all())
    if finite:
        opt.step(params, grads)
    return {"loss": loss, "grad_norm": norm, "skipped": not finite}

def find_spikes(norms, window=100, factor=100.0):
    norms = np.asarray(norms, dtype=np.float64)
    finite = np.isfinite(norms)
    limits = np.full(len(norms), np.inf)
    for step in range(len(norms)):
        near = slice(max(0, step - window), step)
        if finite[near].any():
            limits[step] = factor * np.median(norms[near][finite[near]])
    return [int(i) for i in np.flatnonzero(~finite | (norms > limits))]

# %% restored-snapshots
"""Steps first and looks afterwards: a bad step is undone in the weights and in the optimizer."""

import copy
import math

import numpy as np

WHY = {"next": "c", "climb": "a", "stuck": "b"}

def clip(grads, max_norm):
    norm = math.sqrt(math.fsum(np.vdot(d, d) for d in (g.astype(float) for g in grads)))
    if not norm <= max_norm:
        for g in grads:
            g[...] = g * (max_norm / norm)
    return norm

def train_step(params, batch, loss_and_grads, opt, max_norm):
    weights, kept = [p.copy() for p in params], copy.deepcopy(vars(opt))
    loss, grads = loss_and_grads(params, batch)
    good = math.isfinite(loss) and all(np.isfinite(g).all() for g in grads)
    with np.errstate(all="ignore"):
        norm = clip(grads, max_norm)
        opt.step(params, grads)
    if not good:
        for p, old in zip(params, weights):
            p[...] = old
        vars(opt).update(kept)
    return {"skipped": not good, "grad_norm": norm, "loss": loss}

def find_spikes(norms, window=100, factor=100.0):
    def is_spike(step):
        if not math.isfinite(norms[step]):
            return True
        near = sorted(n for n in norms[max(step - window, 0) : step] if math.isfinite(n))
        if not near:
            return False
        half = len(near) // 2
        middle = near[half] if len(near) % 2 else (near[half - 1] + near[half]) / 2
        return norms[step] > factor * middle

    return [step for step in range(len(norms)) if is_spike(step)]

# %% torch-like
"""As torch does it: the norm of the norms, 1e-6 added to it, and a factor of at most 1."""

import statistics

import numpy as np

WHY = {"next": "c", "climb": "a", "stuck": "b"}

def clip(grads, max_norm):
    total = np.linalg.norm([np.linalg.norm(g.astype(np.float64).ravel()) for g in grads])
    factor = np.clip(max_norm / (total + 1e-6), None, 1.0)
    for g in grads:
        np.multiply(g, factor, out=g, casting="same_kind")
    return float(total)

def train_step(params, batch, loss_and_grads, opt, max_norm):
    loss, grads = loss_and_grads(params, batch)
    log = {"loss": loss, "grad_norm": float("nan"), "skipped": True}
    if not np.isfinite(loss) or not all(np.all(np.isfinite(g)) for g in grads):
        return log
    log.update(grad_norm=clip(grads, max_norm), skipped=False)
    opt.step(params, grads)
    return log

def find_spikes(norms, window=100, factor=100.0):
    spikes = []
    for step in range(len(norms)):
        before = [n for n in norms[:step][-window:] if np.isfinite(n)]
        calm = np.isfinite(norms[step]) and (
            not before or norms[step] <= factor * statistics.median(before)
        )
        if not calm:
            spikes.append(step)
    return spikes

# %% hypot-and-sorting
"""Norms by hypot, which cannot overflow; a window that is kept sorted."""

import bisect

import numpy as np

WHY = {"next": "c", "climb": "a", "stuck": "b"}

def clip(grads, max_norm):
    norm = 0.0
    for g in grads:
        norm = np.hypot(norm, np.hypot.reduce(g.astype(np.float64), axis=None))
    if norm > max_norm:
        for i in range(len(grads)):
            grads[i] *= max_norm / norm
    return float(norm)

def train_step(params, batch, loss_and_grads, opt, max_norm):
    loss, grads = loss_and_grads(params, batch)
    bad = sum(int(np.count_nonzero(~np.isfinite(x))) for x in (np.array(loss), *grads))
    if bad:
        return {"loss": loss, "grad_norm": 0.0, "skipped": True}
    norm = clip(grads, max_norm)
    opt.step(params=params, grads=grads)
    return {"loss": loss, "grad_norm": norm, "skipped": False}

def find_spikes(norms, window=100, factor=100.0):
    found, near = [], []
    for step, norm in enumerate(norms):
        gone = norms[step - window - 1] if step > window else np.nan
        if np.isfinite(gone):
            del near[bisect.bisect_left(near, gone)]
        if np.isfinite(norm) and near:
            usual = (near[(len(near) - 1) // 2] + near[len(near) // 2]) / 2
            if norm > factor * usual:
                found.append(step)
        elif not np.isfinite(norm):
            found.append(step)
        if np.isfinite(norm):
            bisect.insort(near, norm)
    return found

# %% min-of-one
# part: 1
"""As minimal trainers write it: the coefficient with 1e-6, at most 1, and always multiplied."""

import numpy as np

def clip(grads, max_norm):
    total_norm = np.sqrt(sum((g**2).sum() for g in grads))
    clip_coef = min(1.0, max_norm / (total_norm + 1e-6))
    for g in grads:
        g *= clip_coef
    return total_norm

def train_step(params, batch, loss_and_grads, opt, max_norm):
    loss, grads = loss_and_grads(params, batch)
    grad_norm = clip(grads, max_norm)
    opt.step(params, grads)
    return dict(loss=loss, grad_norm=grad_norm)

# %% as-a-framework
# part: 1
"""As a framework's utility: norms per array stacked, their norm, error_if_nonfinite."""

import numpy as np

def clip_grad_norm_(parameters, max_norm, norm_type=2.0, error_if_nonfinite=False):
    grads = [g for g in parameters if g is not None]
    if len(grads) == 0:
        return 0.0
    norms = np.stack([np.linalg.norm(g.reshape(-1), norm_type) for g in grads])
    total_norm = np.linalg.norm(norms, norm_type)
    if error_if_nonfinite and not np.isfinite(total_norm):
        raise RuntimeError(f"The total norm of order {norm_type} is non-finite")
    clip_coef_clamped = np.clip(max_norm / (total_norm + 1e-6), None, 1.0)
    for g in grads:
        np.multiply(g, clip_coef_clamped, out=g)
    return total_norm.item()

def clip(grads, max_norm):
    return clip_grad_norm_(grads, float(max_norm))

def train_step(params, batch, loss_and_grads, opt, max_norm):
    loss, grads = loss_and_grads(params, batch)
    norm = clip(grads, max_norm)
    opt.step(params, grads)
    return {"loss": float(loss), "grad_norm": norm}
