"""Speculative decoding: a small model proposes, the target decides."""

from serving import draw, probs


def verify(p, q, token, u):
    """Keep the draft's token or take another, and say which."""
    # The token was drawn from q, so q[token] is above 0.
    if u[0] < p[token] / q[token]:
        return token, True
    # u[1] is a fresh number: u[0] is no longer uniform here.
    return draw(p, u[1]), False


def step(target, draft, text, k, u, top_p=1.0):
    """Return the tokens that follow text."""
    # The draft runs ahead, one token at a time.
    drafts, qs, last = [], [], text[-1]
    for i in range(k):
        q = probs(draft.extend([last])[0])
        last = draw(q, u[i])
        drafts.append(last)
        qs.append(q)
    # Row i of p is what the target expects in place of drafts[i].
    p = probs(target.extend([text[-1], *drafts]), top_p)
    new = []
    for i in range(k):
        token, kept = verify(p[i], qs[i], drafts[i], (u[k + i], u[2 * k]))
        new.append(token)
        if not kept:
            break
    # The caches go back to what was kept.
    target.truncate(len(text) + len(new) - 1)
    draft.truncate(len(text) + len(new) - 1)
    return new
