# %% nearly_equal_by_allclose
"""Wrong: rewards that np.allclose calls equal have no advantages."""

import numpy as np


def group_advantages(rewards, group, eps):
    R = np.asarray(rewards, dtype=float).reshape(-1, group)
    same = np.array([[np.allclose(g, g[0], atol=1e-3)] for g in R])
    A = (R - R.mean(1, keepdims=True)) / (R.std(1, keepdims=True) + eps)
    return np.where(same, 0.0, A).ravel()


def policy_loss(
    logp, old, advantages, mask, low, high, mean="answer", total=None, ref=None, beta=0.0
):
    N = mask.shape[0]
    rows, cols = np.nonzero(mask)
    n = np.bincount(rows, minlength=N)
    lp = logp[rows, cols]
    r = np.exp(lp - old[rows, cols])
    A = advantages[rows]
    unclipped = r * A
    obj = np.minimum(unclipped, np.clip(r, 1 - low, 1 + high) * A)
    per_tok = -obj
    g = -np.where(unclipped <= obj, unclipped, 0.0)
    if ref is not None:
        d = ref[rows, cols] - lp
        per_tok = per_tok + beta * (np.exp(d) - d - 1)
        g = g + beta * (1 - np.exp(d))
    if mean == "answer":
        w = 1.0 / (n[rows] * (total or N))
    else:
        w = np.full(len(rows), 1.0 / max(total or mask.sum(), 1))
    grad = np.zeros(mask.shape)
    grad[rows, cols] = w * g
    return (per_tok * w).sum(), grad


# %% skips_answers_without_advantage
"""Wrong: an answer with an advantage of 0 is left out, and so is its pull toward the reference."""

import numpy as np


def policy_loss(
    logp, old, advantages, mask, low, high, mean="answer", total=None, ref=None, beta=0.0
):
    if mean not in ("answer", "token"):
        raise ValueError(mean)
    loss, grad = 0.0, np.zeros(logp.shape)
    if total is None:
        total = len(logp) if mean == "answer" else max(int(mask.sum()), 1)
    for i, adv in enumerate(advantages):
        on = mask[i]
        if not on.any() or adv == 0:
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
