"""Speculative decoding: a small model proposes, the target decides."""

# why: What a token is replaced by comes from an array that is computed here.
import numpy as np
from serving import draw, probs


def verify(p, q, token, u):
    """Keep the draft's token or take another, and say which."""
    # The token was drawn from q, so q[token] is above 0.
    if u[0] < p[token] / q[token]:
        return token, True
    # why: Kept proposals have given min(p, q) of every token already. What p has beyond that is
    #      max(p - q, 0), scaled to sum to 1. If p and q are equal up to rounding there may be
    #      nothing left; then p will do.
    rest = np.maximum(p - q, 0)
    rest = rest / rest.sum() if rest.any() else p
    # u[1] is a fresh number: u[0] is no longer uniform here.
    # why: A replacement is drawn from what is left.
    return draw(rest, u[1]), False


def step(target, draft, text, k, u, top_p=1.0):
    """Return the tokens that follow text."""
    # The draft runs ahead, one token at a time.
    # why 2: It is fed all that its cache lacks: after k kept proposals that is the last of them,
    #        too, which was never fed.
    drafts, qs, feed = [], [], text[len(draft.tokens) :]
    for i in range(k):
        # why 2: The draft proposes with top_p as well, and the q of the test is the one drawn from.
        q = probs(draft.extend(feed)[-1], top_p)
        drafts.append(draw(q, u[i]))
        qs.append(q)
        feed = drafts[-1:]
    # Row i of p is what the target expects in place of drafts[i].
    p = probs(target.extend([text[-1], *drafts]), top_p)
    new = []
    for i in range(k):
        token, kept = verify(p[i], qs[i], drafts[i], (u[k + i], u[2 * k]))
        new.append(token)
        if not kept:
            break
    # why 2: With all k kept, the pass has a row that nobody has used: the target's own token.
    else:
        new.append(draw(p[k], u[2 * k]))
    # The caches go back to what was kept.
    target.truncate(len(text) + len(new) - 1)
    draft.truncate(len(text) + len(new) - 1)
    return new


# why 3: A proposal is kept with the probability that p and q have in common. Position i counts if
#        all before it were kept, so the mean is a sum of powers.
def plan(p, q, k, cost):
    """What a step yields where p and q hold at every position."""
    alpha = np.minimum(p, q).sum()
    tokens = sum(alpha**i for i in range(k + 1))
    speedup, break_even = tokens / (1 + k * cost), (tokens - 1) / k
    return {"alpha": alpha, "tokens": tokens, "speedup": speedup, "break_even": break_even}
