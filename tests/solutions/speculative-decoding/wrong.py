# %% endless_proposals
"""Wrong: the mean length is that of a step without a bound, 1 / (1 - alpha)."""

import numpy as np
from serving import draw, probs


def verify(p, q, token, u):
    if u[0] < p[token] / q[token]:
        return token, True
    r = np.maximum(p - q, 0)
    return draw(r / r.sum() if r.any() else p, u[1]), False


def step(target, draft, text, k, u, top_p=1.0):
    drafts, qs, feed = [], [], text[len(draft.tokens) :]
    for i in range(k):
        q = probs(draft.extend(feed)[-1], top_p)
        drafts.append(draw(q, u[i]))
        qs.append(q)
        feed = drafts[-1:]
    p = probs(target.extend([text[-1], *drafts]), top_p)
    new = []
    for i in range(k):
        token, kept = verify(p[i], qs[i], drafts[i], (u[k + i], u[2 * k]))
        new.append(token)
        if not kept:
            break
    else:
        new.append(draw(p[k], u[2 * k]))
    target.truncate(len(text) + len(new) - 1)
    draft.truncate(len(text) + len(new) - 1)
    return new


def plan(p, q, k, cost):
    alpha = np.minimum(p, q).sum()
    tokens = 1 / (1 - alpha) if alpha < 1 else k + 1
    return {"alpha": alpha, "tokens": tokens, "speedup": tokens / (1 + k * cost), "break_even": (tokens - 1) / k}


# %% halves_of_both
"""Wrong: replacements are drawn from the mean of p and q."""

import numpy as np
from serving import draw


def verify(p, q, token, u):
    if u[0] < p[token] / q[token]:
        return token, True
    r = p + q
    return draw(r / r.sum(), u[1]), False


# %% text_returned_too
"""Wrong: the whole text is returned, not what follows it."""

from serving import draw, probs


def step(target, draft, text, k, u, top_p=1.0):
    drafts, qs, feed = [], [], text[len(draft.tokens) :]
    for i in range(k):
        q = probs(draft.extend(feed)[-1], top_p)
        drafts.append(draw(q, u[i]))
        qs.append(q)
        feed = drafts[-1:]
    p = probs(target.extend([text[-1], *drafts]), top_p)
    new = []
    for i in range(k):
        token, kept = verify(p[i], qs[i], drafts[i], (u[k + i], u[2 * k]))
        new.append(token)
        if not kept:
            break
    else:
        new.append(draw(p[k], u[2 * k]))
    target.truncate(len(text) + len(new) - 1)
    draft.truncate(len(text) + len(new) - 1)
    return text + new
