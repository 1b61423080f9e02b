# %% distance-between-distributions
"""The starter, repaired; alpha is 1 less half the sum of absolute differences."""

import numpy as np
from serving import draw, probs

def verify(p, q, token, u):
    if u[0] < p[token] / q[token]:
        return token, True
    rest = np.maximum(p - q, 0)
    return draw(rest / rest.sum() if rest.sum() > 0 else p, u[1]), False

def step(target, draft, text, k, u, top_p=1.0):
    drafts, qs = [], []
    fed = text[len(draft.tokens) :]
    for i in range(k):
        q = probs(draft.extend(fed)[-1], top_p)
        last = draw(q, u[i])
        drafts.append(last)
        qs.append(q)
        fed = [last]
    p = probs(target.extend([text[-1], *drafts]), top_p)
    new = []
    for i in range(k):
        token, kept = verify(p[i], qs[i], drafts[i], (u[k + i], u[2 * k]))
        new.append(token)
        if not kept:
            break
    if len(new) == k and kept:
        new.append(draw(p[k], u[2 * k]))
    target.truncate(len(text) + len(new) - 1)
    draft.truncate(len(text) + len(new) - 1)
    return new

def plan(p, q, k, cost):
    alpha = 1 - np.abs(p - q).sum() / 2
    tokens = np.polyval(np.ones(k + 1), alpha)
    return {
        "alpha": alpha,
        "tokens": tokens,
        "speedup": tokens / (1 + k * cost),
        "break_even": (tokens - 1) / k,
    }

# %% padded-draft
"""A row of zeros below q: then the token at the end is a replacement like any other."""

import numpy as np
from serving import draw, probs

def _pick(p, q, u):
    r = np.clip(p - q, 0, None)
    return draw(r / r.sum(), u) if r.sum() else draw(p, u)

def verify(p, q, token, u):
    kept = bool(u[0] < p[token] / q[token])
    return (token if kept else _pick(p, q, u[1])), kept

def step(target, draft, text, k, u, top_p=1.0):
    line, q = list(text), []
    while len(line) < len(text) + k:
        q.append(probs(draft.extend(line[len(draft.tokens) :]), top_p)[-1])
        line.append(draw(q[-1], u[len(q) - 1]))
    q = np.vstack([*q, 0 * q[0]])
    p = probs(target.extend(line[len(target.tokens) :]), top_p)[-(k + 1) :]
    at, d = np.arange(k), np.array(line[len(text) :])
    fails = np.flatnonzero(~(np.asarray(u[k : 2 * k]) < p[at, d] / q[at, d]))
    n = int(fails[0]) if len(fails) else k
    for model in (target, draft):
        model.truncate(len(text) + n)
    return line[len(text) : len(text) + n] + [_pick(p[n], q[n], u[-1])]

def plan(p, q, k, cost):
    a = np.minimum(p, q).sum()
    e = 1 + np.cumprod(np.full(k, a)).sum()
    return {"alpha": a, "tokens": e, "speedup": e / (1 + k * cost), "break_even": (e - 1) / k}

# %% plain-python
"""No numpy; the draft is fed its last proposal at once and so never falls behind."""

from serving import draw, probs

def verify(p, q, token, u):
    p, q = [float(x) for x in p], [float(x) for x in q]
    if u[0] * q[token] < p[token]:
        return token, True
    missing = [max(a - b, 0.0) for a, b in zip(p, q)]
    whole = sum(missing)
    if whole <= 0:
        missing, whole = p, sum(p)
    total = 0.0
    for found, share in enumerate(missing):
        total += share / whole
        if total > u[1]:
            return found, False
    return max(i for i, share in enumerate(missing) if share > 0), False

def step(target, draft, text, k, u, top_p=1.0):
    row = draft.extend(text[len(draft.tokens) :])[-1]
    proposals = []
    for i in range(k):
        q = probs(row, top_p)
        proposals.append((draw(q, u[i]), q))
        row = draft.extend([proposals[-1][0]])[-1]
    rows = target.extend(text[-1:] + [token for token, _ in proposals])
    new = []
    while len(new) < k:
        i = len(new)
        token, kept = verify(probs(rows[i], top_p), proposals[i][1], proposals[i][0], [u[k + i], u[-1]])
        new += [token]
        if not kept:
            break
    else:
        new += [draw(probs(rows[-1], top_p), u[-1])]
    held = text + new[:-1]
    target.truncate(len(held))
    draft.truncate(len(held))
    return new

def plan(p, q, k, cost):
    alpha = sum(min(a, b) for a, b in zip(p, q))
    tokens = reached = 1.0
    for _ in range(k):
        reached *= alpha
        tokens += reached
    return dict(alpha=alpha, tokens=tokens, speedup=tokens / (1 + cost * k), break_even=(tokens - 1) / k)

# %% recursive
"""Logarithms, and one position at a time by recursion."""

import math
import numpy as np
from serving import draw, probs

def _ratio(a, b):
    return math.log(a) - math.log(b) if a > 0 else -math.inf

def verify(p, q, token, u):
    log_u = math.log(u[0]) if u[0] > 0 else -math.inf
    if p[token] > 0 and log_u < _ratio(p[token], q[token]):
        return int(token), True
    left = p - np.minimum(p, q)
    return draw(left / left.sum() if left.any() else p, u[1]), False

def step(target, draft, text, k, u, top_p=1.0):
    def ahead(i, feed):
        if i == k:
            return []
        q = probs(draft.extend(feed)[-1], top_p)
        token = draw(q, u[i])
        return [(token, q), *ahead(i + 1, [token])]

    pairs = ahead(0, text[len(draft.tokens) :])
    p = probs(target.extend([text[-1]] + [t for t, _ in pairs]), top_p)

    def behind(i):
        if i == k:
            return [draw(p[i], u[2 * k])]
        token, kept = verify(p[i], pairs[i][1], pairs[i][0], (u[k + i], u[2 * k]))
        return [token] + (behind(i + 1) if kept else [])

    new = behind(0)
    for model in (target, draft):
        model.truncate(len(text) + len(new) - 1)
    return new

def plan(p, q, k, cost):
    alpha = float(np.where(p < q, p, q).sum())

    def mean(left):
        return 1 + alpha * mean(left - 1) if left else 1.0

    tokens = mean(k)
    return {"alpha": alpha, "tokens": tokens, "speedup": tokens / (1 + k * cost), "break_even": (tokens - 1) / k}

# %% class-of-a-step
"""An object for the step, with its own inverse of the running total."""

import numpy as np
from serving import probs

def choose(p, u):
    place = int(np.searchsorted(np.cumsum(p), u, side="right"))
    return min(place, int(np.nonzero(p)[0][-1]))

def verify(p, q, token, u):
    if u[0] < min(1.0, p[token] / q[token]):
        return int(token), True
    gap = np.where(p > q, p - q, 0.0)
    return choose(gap / gap.sum() if gap.sum() > 0 else p, u[1]), False

class Step:
    def __init__(self, target, draft, text, k, u, top_p):
        self.target, self.draft, self.text = target, draft, list(text)
        self.k, self.top_p = k, top_p
        self.to_draw, self.to_decide, self.last = u[:k], u[k : 2 * k], u[2 * k]

    def propose(self):
        self.proposals, self.q = [], []
        for number in self.to_draw:
            so_far = self.text + self.proposals
            self.q.append(probs(self.draft.extend(so_far[len(self.draft.tokens) :])[-1], self.top_p))
            self.proposals.append(choose(self.q[-1], number))

    def decide(self):
        self.p = probs(self.target.extend([self.text[-1]] + self.proposals), self.top_p)
        for i, number in enumerate(self.to_decide):
            token, kept = verify(self.p[i], self.q[i], self.proposals[i], (number, self.last))
            yield token
            if not kept:
                return
        yield choose(self.p[self.k], self.last)

    def run(self):
        self.propose()
        new = list(self.decide())
        keep = len(self.text) + len(new) - 1
        self.target.truncate(keep)
        self.draft.truncate(min(keep, len(self.draft.tokens)))
        return new

def step(target, draft, text, k, u, top_p=1.0):
    return Step(target, draft, text, k, u, top_p).run()

def plan(p, q, k, cost):
    alpha = (p * np.minimum(1, np.divide(q, p, out=np.ones_like(p), where=p > 0))).sum()
    tokens = k + 1 if alpha == 1 else (1 - alpha ** (k + 1)) / (1 - alpha)
    return {"alpha": alpha, "tokens": tokens, "speedup": tokens / (1 + k * cost), "break_even": (tokens - 1) / k}

# %% as-in-serving-engines
"""Named and laid out as in serving engines: a mask of what is accepted, its running product."""

import numpy as np
from serving import draw, probs

def get_recovered_probs(target_probs, draft_probs):
    diff = np.clip(target_probs - draft_probs, a_min=np.finfo(target_probs.dtype).tiny, a_max=None)
    diff = np.where(target_probs > draft_probs, diff, 0.0)
    if not diff.any():
        return target_probs
    return diff / diff.sum(axis=-1, keepdims=True)

def verify(p, q, token, u):
    accepted = u[0] < p[token] / q[token]
    recovered = draw(get_recovered_probs(p, q), u[1])
    return (token, True) if accepted else (recovered, False)

def step(target, draft, text, k, u, top_p=1.0):
    draft_token_ids, draft_probs = np.zeros(k, np.int64), []
    input_ids = np.array(text[len(draft.tokens) :])
    for pos in range(k):
        logits = draft.extend(input_ids.tolist())
        draft_probs.append(probs(logits, top_p)[-1])
        draft_token_ids[pos] = draw(draft_probs[-1], u[pos])
        input_ids = draft_token_ids[pos : pos + 1]
    target_probs = probs(target.extend(text[-1:] + draft_token_ids.tolist()), top_p)
    results = [
        verify(target_probs[i], draft_probs[i], int(draft_token_ids[i]), (u[k + i], u[-1]))
        for i in range(k)
    ]
    accepted = np.cumprod([kept for _, kept in results])
    num_accepted = int(accepted.sum())
    output = draft_token_ids[:num_accepted].tolist()
    output.append(draw(target_probs[k], u[-1]) if num_accepted == k else results[num_accepted][0])
    valid = len(text) + num_accepted
    target.truncate(valid)
    draft.truncate(valid)
    return output

def plan(p, q, k, cost):
    acceptance_rate = np.minimum(p, q).sum()
    mean_length = (acceptance_rate ** np.arange(k + 1)).sum()
    return {
        "alpha": acceptance_rate,
        "tokens": mean_length,
        "speedup": mean_length / (k * cost + 1),
        "break_even": (mean_length - 1) / k,
    }

# %% outcomes-added-up
"""A closure for the proposals; the mean length as a sum over the outcomes of a step."""

import numpy as np
from serving import draw, probs

def verify(p, q, token, u):
    limit = p[token] / q[token]
    if limit > u[0]:
        return token, True
    surplus = (p - q) * (p > q)
    return (draw(surplus / np.sum(surplus), u[1]) if np.any(surplus) else draw(p, u[1])), False

def step(target, draft, text, k, u, top_p=1.0):
    u = list(u)

    def proposer():
        unseen = text[len(draft.tokens) :]
        for number in u[:k]:
            q = probs(draft.extend(unseen), top_p)[-1]
            token = draw(q, number)
            unseen = [token]
            yield token, q

    proposed = list(proposer())
    tokens = [token for token, _ in proposed]
    p = list(probs(target.extend([*text[-1:], *tokens]), top_p))
    out = []
    for (token, q), own, number in zip(proposed, p, u[k:]):
        got, kept = verify(own, q, token, (number, u[-1]))
        out.append(got)
        if not kept:
            break
    else:
        out.append(draw(p[-1], u[-1]))
    size = len(text) + len(out) - 1
    if len(target.tokens) > size:
        target.truncate(size)
    if len(draft.tokens) > size:
        draft.truncate(size)
    return out

def plan(p, q, k, cost):
    alpha = np.sum([min(a, b) for a, b in zip(p, q)])
    ends = [(1 - alpha) * alpha**i for i in range(k)] + [alpha**k]
    tokens = sum((i + 1) * share for i, share in enumerate(ends))
    return {"alpha": alpha, "tokens": tokens, "speedup": tokens / (1 + k * cost), "break_even": (tokens - 1) / k}

# %% cut-before-the-end
"""The caches are cut at the first rejection, and the token at the end comes from one line."""

import numpy as np
from serving import draw, probs

def verify(p, q, token, u):
    return end(p, q, token, u) if u[0] * q[token] >= p[token] else (token, True)

def end(p, q, token, u):
    lacking = np.fmax(p - q, 0)
    weight = np.add.reduce(lacking)
    return draw(np.divide(lacking, weight) if weight else p, u[1]), False

def step(target, draft, text, k, u, top_p=1.0):
    guesses, beliefs, start = [], [], len(text)
    pending = text[len(draft.tokens) : start]
    for i in range(k):
        *_, row = draft.extend(pending)
        beliefs += [probs(row, top_p)]
        pending = [draw(beliefs[i], u[i])]
        guesses += pending
    truths = [probs(row, top_p) for row in target.extend([text[start - 1], *guesses])]
    good = 0
    for p, q, guess, number in zip(truths, beliefs, guesses, u[k:]):
        if not verify(p, q, guess, (number, u[2 * k]))[1]:
            break
        good += 1
    target.truncate(start + good)
    draft.truncate(start + good)
    if good == k:
        return guesses + [draw(truths[k], u[2 * k])]
    last, _ = end(truths[good], beliefs[good], guesses[good], (1, u[2 * k]))
    return guesses[:good] + [last]

def plan(p, q, k, cost):
    alpha = 1 - np.maximum(q - p, 0).sum()
    tokens = sum(np.prod([alpha] * i) for i in range(k + 1))
    gain = tokens / (1 + k * cost)
    return {"alpha": alpha, "tokens": tokens, "speedup": gain, "break_even": (tokens - 1) / k}

# %% one-line
# part: 1
"""What a colleague would merge when no more is asked."""

import numpy as np
from serving import draw

def verify(p, q, token, u):
    if u[0] < p[token] / q[token]:
        return token, True
    r = np.maximum(p - q, 0)
    r /= r.sum()
    return draw(r, u[1]), False

# %% float32-ratio
# part: 1
"""The decision in single precision; no u comes near a limit."""

import numpy as np

def verify(p, q, token, u):
    p32, q32 = p.astype(np.float32), q.astype(np.float32)
    if np.float32(u[0]) < p32[token] / q32[token]:
        return token, np.True_
    residual = np.maximum(p32 - q32, np.float32(0))
    cdf = np.cumsum(residual) / residual.sum()
    return int(np.argmax(cdf > u[1])), np.False_
