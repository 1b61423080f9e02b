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
