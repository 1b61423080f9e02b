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
