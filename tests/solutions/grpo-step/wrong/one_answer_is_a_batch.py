"""Wrong: a call with one answer takes it for the whole batch, whatever total says."""

import numpy as np


def policy_loss(
    logp, old, advantages, mask, low, high, mean="answer", total=None, ref=None, beta=0.0
):
    if mean not in ("answer", "token"):
        raise ValueError(mean)
    loss, grad = 0.0, np.zeros(logp.shape)
    if total is None:
        total = len(logp) if mean == "answer" else max(int(mask.sum()), 1)
    if len(logp) == 1 and mean == "answer":
        total = 1
    for i, adv in enumerate(advantages):
        on = mask[i]
        if not on.any():
            continue
        count = total * on.sum() if mean == "answer" else total
        lp = logp[i, on]
        r = np.exp(lp - old[i, on])
        tok = -np.minimum(r * adv, np.clip(r, 1 - low, 1 + high) * adv)
        stopped = (r > 1 + high) if adv > 0 else (r < 1 - low)
        g = -np.where(stopped, 0.0, r * adv)
        if ref is not None:
            d = ref[i, on] - lp
            tok = tok + beta * (np.exp(d) - d - 1)
            g = g + beta * (1 - np.exp(d))
        loss += float(tok.sum() / count)
        grad[i, on] = g / count
    return loss, grad


def group_advantages(rewards, group, eps):
    r = rewards.reshape(-1, group)
    centered = r - r.mean(axis=1, keepdims=True)
    return (centered / (r.std(axis=1, keepdims=True) + eps)).reshape(-1)
