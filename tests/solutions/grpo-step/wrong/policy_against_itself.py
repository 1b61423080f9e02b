"""Wrong: the present policy is compared with itself, so that every ratio is 1."""
# named: ratio-of-one

import numpy as np


def policy_loss(
    logp, old, advantages, mask, low, high, mean="answer", total=None, ref=None, beta=0.0
):
    """The loss, and its gradient with respect to logp."""
    a = advantages[:, None]
    ratio = np.exp(difference(logp, logp, mask))
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
