# %% loops
"""One token after the other, and four cases."""

import math

import numpy as np

def policy_loss(logp, old, advantages, mask, low, high, mean="answer", total=None, ref=None, beta=0.0):
    answers, tokens = logp.shape
    grad = np.zeros((answers, tokens))
    here = int(mask.sum()) if mean == "token" else answers
    divisor = total or here or 1
    loss = 0.0
    for n in range(answers):
        length = int(mask[n].sum())
        for t in range(tokens):
            if not mask[n, t]:
                continue
            weight = 1 / divisor if mean == "token" else 1 / (length * divisor)
            ratio, a = math.exp(logp[n, t] - old[n, t]), advantages[n]
            if a > 0 and ratio > 1 + high:
                objective, slope = (1 + high) * a, 0.0
            elif a < 0 and ratio < 1 - low:
                objective, slope = (1 - low) * a, 0.0
            else:
                objective = slope = ratio * a
            if ref is not None:
                d = ref[n, t] - logp[n, t]
                objective -= beta * (math.exp(d) - d - 1)
                slope -= beta * (1 - math.exp(d))
            loss -= weight * objective
            grad[n, t] = -weight * slope
    return loss, grad

def group_advantages(rewards, group, eps):
    found = []
    for start in range(0, len(rewards), group):
        some = [float(r) for r in rewards[start : start + group]]
        center = math.fsum(some) / group
        spread = math.sqrt(math.fsum((r - center) ** 2 for r in some) / group)
        found += [(r - center) / (spread + eps) for r in some]
    return np.array(found)

# %% by-the-sign
"""The bound on the ratio depends on the sign of A."""

import numpy as np

def policy_loss(logp, old, advantages, mask, low, high, mean="answer", total=None, ref=None, beta=0.0):
    good = (advantages > 0)[:, None]
    log_ratio = np.where(mask, logp, 0) - np.where(mask, old, 0)
    ratio = np.exp(log_ratio)
    bounded = np.where(good, np.minimum(ratio, 1 + high), np.maximum(ratio, 1 - low))
    moving = np.where(good, ratio <= 1 + high, ratio >= 1 - low)
    per_token = -bounded * advantages[:, None]
    grad = -1.0 * moving * ratio * advantages[:, None]
    if ref is not None:
        d = np.where(mask, ref, 0) - np.where(mask, logp, 0)
        per_token += beta * (np.expm1(d) - d)
        grad -= beta * np.expm1(d)
    if mean == "answer":
        weights = mask / np.clip(mask.sum(1), 1, None)[:, None]
        weights /= len(mask) if total is None else total
    else:
        weights = mask / (max(np.count_nonzero(mask), 1) if total is None else total)
    return np.sum(weights * per_token), weights * grad

def group_advantages(rewards, group, eps):
    rows = rewards.reshape((len(rewards) // group, group))
    return np.ravel((rows.T - rows.mean(1)) / (rows.std(1) + eps), order="F")

# %% tokens-in-a-row
"""Only the tokens that stand, in one long row; sums by np.bincount."""

import numpy as np

def policy_loss(logp, old, advantages, mask, low, high, mean="answer", total=None, ref=None, beta=0.0):
    n = len(mask)
    answer, place = np.nonzero(mask)
    now = logp[answer, place]
    a = advantages[answer]
    ratio = np.exp(now - old[answer, place])
    stopped = ((a > 0) & (ratio > 1 + high)) | ((a < 0) & (ratio < 1 - low))
    value = np.where(stopped, np.clip(ratio, 1 - low, 1 + high), ratio) * a
    slope = np.where(stopped, 0.0, ratio * a)
    if ref is not None:
        d = ref[answer, place] - now
        value = value - beta * (np.exp(d) - 1 - d)
        slope = slope + beta * (np.exp(d) - 1)
    grad = np.zeros(logp.shape)
    if not len(answer):
        return 0.0, grad
    if mean == "token":
        divisor = len(answer) if total is None else total
        loss, weight = value.sum() / divisor, 1 / divisor
    else:
        lengths = np.bincount(answer, minlength=n)
        means = np.bincount(answer, value, minlength=n)[lengths > 0] / lengths[lengths > 0]
        divisor = n if total is None else total
        loss, weight = means.sum() / divisor, 1 / lengths[answer] / divisor
    grad[answer, place] = -weight * slope
    return -loss, grad

def group_advantages(rewards, group, eps):
    problem = np.arange(rewards.size) // group
    center = np.bincount(problem, rewards) / group
    off = rewards - center[problem]
    spread = np.sqrt(np.bincount(problem, off**2) / group)
    return off / (spread[problem] + eps)

# %% logarithms
"""The band is compared as logarithms, before anything is exponentiated."""

import numpy as np

def policy_loss(logp, old, advantages, mask, low, high, mean="answer", total=None, ref=None, beta=0.0):
    a = np.broadcast_to(np.expand_dims(advantages, 1), mask.shape)
    move = np.zeros_like(logp)
    move[mask] = logp[mask] - old[mask]
    bound = np.where(a >= 0, np.log1p(high), np.log1p(-low))
    held = np.where(a >= 0, move > bound, move < bound)
    surrogate = np.exp(np.where(held, bound, move)) * a
    dlogp = np.where(held, 0, np.exp(move) * a)
    if ref is not None:
        d = np.zeros_like(logp)
        d[mask] = ref[mask] - logp[mask]
        surrogate -= beta * (np.exp(d) - d - 1)
        dlogp -= beta * (1 - np.exp(d))
    surrogate[~mask] = 0
    dlogp[~mask] = 0
    if mean == "token":
        norm = np.full((len(mask), 1), float(total or mask.sum() or 1))
    else:
        norm = mask.sum(axis=1, keepdims=True).clip(1) * float(total or len(mask))
    return -np.einsum("nt,nk->", surrogate, 1 / norm), -dlogp / norm

def group_advantages(rewards, group, eps):
    out = np.empty_like(rewards)
    for rows in np.arange(len(rewards)).reshape(-1, group):
        some = rewards[rows]
        out[rows] = (some - some.mean()) / (np.sqrt(np.var(some)) + eps)
    return out

# %% answers-as-objects
"""An answer is an object; the batch adds up what its answers say."""

from dataclasses import dataclass

import numpy as np

@dataclass
class Answer:
    logp: np.ndarray
    old: np.ndarray
    advantage: float

    def terms(self, low, high):
        ratio = np.exp(self.logp - self.old)
        plain = ratio * self.advantage
        best = (1 + high if self.advantage > 0 else 1 - low) * self.advantage
        return np.minimum(plain, best), np.where(plain < best, plain, 0.0)

@dataclass
class Pull:
    beta: float

    def terms(self, logp, ref):
        odds = np.exp(ref - logp)
        return self.beta * (odds - (ref - logp) - 1), self.beta * (1 - odds)

def policy_loss(logp, old, advantages, mask, low, high, mean="answer", total=None, ref=None, beta=0.0):
    loss, grad = 0.0, np.zeros_like(logp)
    by_token = mean == "token"
    whole = total if total is not None else (mask.sum() if by_token else mask.shape[0])
    for n, row in enumerate(mask):
        if not row.any():
            continue
        answer = Answer(logp[n, row], old[n, row], advantages[n])
        value, slope = answer.terms(low, high)
        if ref is not None:
            cost, slant = Pull(beta).terms(answer.logp, ref[n, row])
            value, slope = value - cost, slope - slant
        scale = 1 / whole if by_token else 1 / whole / row.sum()
        loss -= scale * value.sum()
        grad[n, row] = -scale * slope
    return loss, grad

def group_advantages(rewards, group, eps):
    def judged(some):
        center = np.average(some)
        return (some - center) / (np.linalg.norm(some - center) / np.sqrt(group) + eps)

    return np.concatenate([judged(some) for some in np.split(rewards, len(rewards) // group)])

# %% masked-arrays
"""numpy's masked arrays leave out what does not stand."""

import numpy as np

def policy_loss(logp, old, advantages, mask, low, high, mean="answer", total=None, ref=None, beta=0.0):
    def tokens(array):
        return np.ma.array(np.where(mask, array, 0.0), mask=~mask)

    a = advantages.reshape(-1, 1)
    now = tokens(logp)
    ratio = np.ma.exp(now - tokens(old))
    held = np.clip(ratio, 1 - low, 1 + high)
    value = np.ma.minimum(ratio * a, held * a)
    slope = np.ma.where(ratio * a > held * a, 0, ratio * a)
    if ref is not None:
        d = tokens(ref) - now
        value -= beta * (np.ma.exp(d) - d - 1)
        slope -= beta * (1 - np.ma.exp(d))
    if mean == "token":
        weight = 1 / (total if total else max(1, mask.sum()))
        weights = np.full(mask.shape, weight)
    else:
        weights = np.ones(mask.shape) / np.maximum(mask.sum(1, keepdims=True), 1)
        weights /= total if total else mask.shape[0]
    return -float((value * weights).filled(0).sum()), -(slope * weights).filled(0)

def group_advantages(rewards, group, eps):
    rows = rewards.reshape(-1, group)
    off = rows - np.sum(rows, axis=-1, keepdims=True) / group
    return (off / (np.sqrt((off * off).mean(-1, keepdims=True)) + eps)).flatten()

# %% closures
"""Each part of the loss is a function with its slope, and they are added."""

import numpy as np

def surrogate(old, a, low, high):
    def of(logp):
        ratio = np.exp(logp - old)
        gain = ratio * a
        most = np.where(a > 0, (1 + high) * a, (1 - low) * a)
        return -np.where(gain < most, gain, most), -gain * (gain < most)
    return of

def pull(ref, beta):
    def of(logp):
        e = np.expm1(ref - logp)
        return beta * (e - ref + logp), -beta * e
    return of

def averaged(mask, mean, total):
    if mean == "answer":
        counts = mask.sum(axis=1)
        weights = np.divide(mask, counts[:, None], out=np.zeros(mask.shape), where=mask)
        return weights / (len(mask) if total is None else total)
    return mask * (1.0 / (total or max(mask.sum(), 1)))

def policy_loss(logp, old, advantages, mask, low, high, mean="answer", total=None, ref=None, beta=0.0):
    safe = lambda array: np.where(mask, array, -1.0)
    parts = [surrogate(safe(old), advantages[:, np.newaxis], low, high)]
    if ref is not None:
        parts.append(pull(safe(ref), beta))
    weights = averaged(mask, mean, total)
    loss, grad = 0.0, np.zeros(mask.shape)
    for part in parts:
        value, slope = part(safe(logp))
        loss += float(np.vdot(weights, value))
        grad += weights * slope
    return loss, grad

def group_advantages(rewards, group, eps):
    grouped = rewards.reshape(-1, group)
    mean, std = (f(grouped, axis=1).repeat(group) for f in (np.mean, np.std))
    return (rewards - mean) / (std + eps)

# %% one-answer-at-a-time
# part: 1
"""Right as long as no more is asked: rows without a token would divide by 0."""

import numpy as np

def policy_loss(logp, old, advantages, mask, low, high):
    losses, grads = [], []
    for row, before, a, stands in zip(logp, old, advantages, mask):
        ratio = np.exp(row - before)
        clipped = ratio.clip(1 - low, 1 + high)
        surrogate = np.minimum(ratio * a, clipped * a)
        losses.append(-surrogate[stands].mean())
        grads.append(np.where(surrogate == ratio * a, -ratio * a, 0) * stands / stands.sum())
    return np.mean(losses), np.array(grads) / len(losses)

# %% flags
# part: 1
"""Says of each token whether it has gone far enough."""

import numpy as np

def policy_loss(logp, old, advantages, mask, low, high):
    a = advantages[:, None]
    ratio = np.exp(logp - old)
    far = np.where(a > 0, ratio > 1 + high, (a < 0) & (ratio < 1 - low))
    objective = np.where(far, np.clip(ratio, 1 - low, 1 + high), ratio) * a
    weight = np.array([m / m.sum() for m in mask.astype(float)]) / len(mask)
    return -np.einsum("nt,nt", weight, objective), -weight * ~far * ratio * a
