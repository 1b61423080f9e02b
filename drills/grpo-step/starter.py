"""The loss of a policy on answers that it sampled some steps ago."""

import numpy as np


def policy_loss(logp, old, advantages, mask, low, high):
    """The loss, and its gradient with respect to logp."""
    a = advantages[:, None]
    ratio = np.exp(logp - old)
    clipped = np.clip(ratio, 1 - low, 1 + high)
    objective = clipped * a
    slope = np.where(ratio == clipped, ratio * a, 0)
    # What each token counts: a mean within each answer, and then over answers.
    lengths = mask.sum(axis=1, keepdims=True)
    count = len(mask)
    share = mask / lengths / count
    return float(-(share * objective).sum()), -share * slope
