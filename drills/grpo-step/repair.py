"""The loss of a policy on answers that it sampled some steps ago."""

import numpy as np


# why 3: The mean, the size of the whole batch and the reference policy are the caller's to choose.
def policy_loss(
    logp, old, advantages, mask, low, high, mean="answer", total=None, ref=None, beta=0.0
):
    """The loss, and its gradient with respect to logp."""
    a = advantages[:, None]
    # why 2: What stands outside of the mask is left out before the exponential.
    ratio = np.exp(difference(logp, old, mask))
    clipped = np.clip(ratio, 1 - low, 1 + high)
    # why: The clip may only take away from the objective. A good token that has become rarer, or a
    #      bad one that has become likelier, keeps its own ratio, however far it is off.
    objective = np.minimum(ratio * a, clipped * a)
    slope = np.where(ratio * a <= clipped * a, ratio * a, 0)
    # why 3: The penalty exp(d) - d - 1 has the derivative 1 - exp(d) with respect to logp.
    if ref is not None:
        d = difference(ref, logp, mask)
        objective = objective - beta * (np.exp(d) - d - 1)
        slope = slope - beta * (1 - np.exp(d))
    # What each token counts: a mean within each answer, and then over answers.
    # why 2: An answer without a token is a row without shares.
    lengths = np.maximum(mask.sum(axis=1, keepdims=True), 1)
    count = len(mask)
    # why 3: All tokens alike, or all answers; and over those of the whole batch, where the caller
    #        says how many it has.
    if mean == "token":
        lengths, count = 1, max(mask.sum(), 1)
    if total is not None:
        count = total
    share = mask / lengths / count
    return float(-(share * objective).sum()), -share * slope


# why 2: The answers to a problem are a row. Its spread and eps together are never 0, so equal
#        rewards, or what rounding leaves of their differences, give 0.
def group_advantages(rewards, group, eps):
    """Rewards measured against their group."""
    rows = rewards.reshape(-1, group)
    centered = rows - rows.mean(axis=1, keepdims=True)
    return (centered / (rows.std(axis=1, keepdims=True) + eps)).reshape(-1)


def difference(a, b, mask):
    """The difference a - b where a token stands, else 0."""
    return np.subtract(a, b, out=np.zeros(mask.shape), where=mask)
