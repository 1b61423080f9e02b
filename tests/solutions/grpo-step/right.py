# %% lengths_plus_eps
"""Right: masked means divide by the number of tokens and 1e-8, as in well-known trainers."""

import numpy as np


def policy_loss(
    logp, old, advantages, mask, low, high, mean="answer", total=None, ref=None, beta=0.0
):
    a = advantages[:, None]
    logp, old = np.where(mask, logp, 0), np.where(mask, old, 0)
    ratio = np.exp(logp - old)
    clipped = np.clip(ratio, 1 - low, 1 + high)
    value = np.minimum(ratio * a, clipped * a)
    slope = np.where(ratio * a <= clipped * a, ratio * a, 0)
    if ref is not None:
        gap = np.where(mask, ref, 0) - logp
        value = value - beta * (np.exp(gap) - gap - 1)
        slope = slope - beta * (1 - np.exp(gap))
    if mean == "token":
        share = mask / (total or mask.sum() + 1e-8)
    else:
        share = mask / (mask.sum(1, keepdims=True) + 1e-8) / (total or len(mask))
    return -(value * share).sum(), -slope * share


def group_advantages(rewards, group, eps):
    groups = rewards.reshape(-1, group)
    groups = groups - groups.min(axis=1, keepdims=True)
    center = groups.mean(axis=1, keepdims=True)
    return ((groups - center) / (groups.std(axis=1, keepdims=True) + eps)).reshape(-1)


# %% repaired_starter
"""The starter, with the least that has to change."""

import numpy as np


def policy_loss(
    logp, old, advantages, mask, low, high, mean="answer", total=None, ref=None, beta=0.0
):
    """The loss, and its gradient with respect to logp."""
    a = advantages[:, None]
    ratio = np.exp(difference(logp, old, mask))
    clipped = np.clip(ratio, 1 - low, 1 + high)
    objective = np.minimum(ratio * a, clipped * a)
    slope = np.where(ratio * a <= clipped * a, ratio * a, 0)
    if ref is not None:
        d = difference(ref, logp, mask)
        objective = objective - beta * (np.exp(d) - d - 1)
        slope = slope - beta * (1 - np.exp(d))
    # What each token counts: a mean within each answer, and then over answers.
    lengths = np.maximum(mask.sum(axis=1, keepdims=True), 1)
    count = len(mask)
    if mean == "token":
        lengths, count = 1, max(mask.sum(), 1)
    if total is not None:
        count = total
    share = mask / lengths / count
    return float(-(share * objective).sum()), -share * slope


def group_advantages(rewards, group, eps):
    """Rewards measured against their group."""
    rows = rewards.reshape(-1, group)
    centered = rows - rows.mean(axis=1, keepdims=True)
    return (centered / (rows.std(axis=1, keepdims=True) + eps)).reshape(-1)


def difference(a, b, mask):
    """The difference a - b where a token stands, else 0."""
    return np.subtract(a, b, out=np.zeros(mask.shape), where=mask)


# %% sums_of_lists
"""Lists of tokens for each answer, and sums by math.fsum."""

import math
import statistics

import numpy as np


def surrogate(logp, old, a, low, high):
    ratio = math.exp(logp - old)
    if a > 0:
        return (ratio * a, ratio * a) if ratio < 1 + high else ((1 + high) * a, 0.0)
    return (ratio * a, ratio * a) if ratio > 1 - low else ((1 - low) * a, 0.0)


def policy_loss(
    logp, old, advantages, mask, low, high, mean="answer", total=None, ref=None, beta=0.0
):
    terms = []  # place, loss and slope of each token, not averaged
    for n, t in zip(*mask.nonzero(), strict=True):
        value, slope = surrogate(logp[n, t], old[n, t], advantages[n], low, high)
        if ref is not None:
            odds = math.exp(ref[n, t] - logp[n, t])
            value -= beta * (odds - 1 - math.log(odds))
            slope -= beta * (1 - odds)
        terms.append(((int(n), int(t)), -value, -slope))
    lengths = [1 if mean == "token" else int(row.sum()) for row in mask]
    whole = total or (len(terms) if mean == "token" else len(mask))
    grad = np.zeros_like(logp)
    for place, _, slope in terms:
        grad[place] = slope / lengths[place[0]] / whole
    return math.fsum(v / lengths[place[0]] / whole for place, v, _ in terms), grad


def group_advantages(rewards, group, eps):
    found = []
    for first in range(0, rewards.size, group):
        some = rewards[first : first + group].tolist()
        center, spread = statistics.fmean(some), statistics.pstdev(some)
        found.extend((reward - center) / (spread + eps) for reward in some)
    return np.array(found)
