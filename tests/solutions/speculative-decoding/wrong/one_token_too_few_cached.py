"""Wrong: the target forgets one token too many, and is fed it again in the next step."""

from serving import draw, probs


def step(target, draft, text, k, u, top_p=1.0):
    drafts, qs, feed = [], [], text[len(draft.tokens) :]
    for i in range(k):
        q = probs(draft.extend(feed)[-1], top_p)
        drafts.append(draw(q, u[i]))
        qs.append(q)
        feed = drafts[-1:]
    p = probs(target.extend([*text[len(target.tokens) :], *drafts])[-k - 1 :], top_p)
    new = []
    for i in range(k):
        token, kept = verify(p[i], qs[i], drafts[i], (u[k + i], u[2 * k]))
        new.append(token)
        if not kept:
            break
    else:
        new.append(draw(p[k], u[2 * k]))
    target.truncate(len(text) + len(new) - 2)
    draft.truncate(len(text) + len(new) - 1)
    return new
