# %% style_a
"""Style: that of nothing_left_draws_from_q and others, repaired."""

import numpy as np
from serving import draw, probs


def verify(p, q, token, u):
    if u[0] * q[token] < p[token]:
        return token, True
    r = np.maximum(p - q, 0)
    if r.sum() == 0:
        r = p
    return draw(r / r.sum(), u[1]), False


def step(target, draft, text, k, u, top_p=1.0):
    pending = text[len(draft.tokens) :]
    proposals, qs = [], []
    for i in range(k):
        q = probs(draft.extend(pending)[-1], top_p)
        token = draw(q, u[i])
        proposals.append(token)
        qs.append(q)
        pending = [token]
    ps = probs(target.extend([text[-1]] + proposals), top_p)
    new = []
    for i in range(k):
        token, kept = verify(ps[i], qs[i], proposals[i], (u[k + i], u[2 * k]))
        new.append(token)
        if not kept:
            break
    else:
        new.append(draw(ps[k], u[2 * k]))
    n = len(text) + len(new) - 1
    target.truncate(n)
    draft.truncate(n)
    return new


def plan(p, q, k, cost):
    alpha = np.minimum(p, q).sum()
    tokens = sum(alpha**i for i in range(k + 1))
    return {
        "alpha": float(alpha),
        "tokens": float(tokens),
        "speedup": float(tokens / (1 + k * cost)),
        "break_even": float((tokens - 1) / k),
    }
