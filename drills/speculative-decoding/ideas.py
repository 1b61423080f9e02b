# %% resamples-from-target
# killed_by: law
"""After a rejection you draw from p. Proposals that were kept have handed out a part of p already,
min(p, q) of each token, so what the draft overrates comes out too often: 5/16, 5/16, 6/16 for 1/4,
1/4, 1/2. Usually "on rejection, sample from the target" was taken literally. Draw from what p still
lacks, max(p - q, 0), scaled to sum to 1."""

def _rest(p, q):
    return p

# %% rejected-token-removed
# killed_by: law
"""After a rejection you draw from p without the token that was turned down. The other tokens that q
overrates are still favored. Usually the thought is that a rejected token must not come back; but no
token with q at least p needs a replacement. Draw from max(p - q, 0), scaled to sum to 1."""

def verify(p, q, token, u):
    if _keeps(p, q, token, u[0]):
        return int(token), True
    rest = np.where(np.arange(len(p)) == token, 0.0, p)
    return draw(rest / rest.sum() if rest.any() else p, u[1]), False

# %% residual-unnormalized
# killed_by: law
"""You draw from max(p - q, 0) as it is. It sums to the share of rejections, so a larger u[1] runs
off its end and gives the last token that has any weight. Usually draw was expected to rescale.
Divide by the sum."""

def _rest(p, q):
    rest = np.maximum(p - q, 0.0)
    return rest if rest.sum() > 0 else p

# %% accepts-on-target-alone
# killed_by: law
"""You keep a proposal with the probability p[token]. It was proposed with the probability q[token],
so q counts twice and too few are kept. Usually the test was thought of as the target's own draw.
Keep it with the probability p[token] / q[token], or always if that is above 1."""

def _keeps(p, q, token, u):
    return bool(u < p[token])

# %% accepts-if-likelier
# killed_by: law
"""You keep every proposal that the target finds at least as likely as the draft does, and none of
the others, without a look at u[0]. A token that q overrates is then never kept, though it may be
p[token] / q[token] of the time. Compare u[0] with that."""

def _keeps(p, q, token, u):
    return bool(p[token] >= q[token])

# %% ratio-upside-down
# killed_by: law
"""You keep a proposal with the probability q[token] / p[token]. What the draft overrates is then
always kept, which is what the test is to prevent. The limit is p[token] / q[token]."""

def _keeps(p, q, token, u):
    return bool(u * p[token] < q[token])

# %% sampler-match
# killed_by: law
"""You draw the target's own token with u[0], and keep the proposal if it is the same. The result is
distributed as p, but a proposal is kept with p times q, summed over tokens, where min(p, q) is
possible: .31 for .75 with p 1/4, 1/4, 1/2 and q 1/2, 1/4, 1/4. Compare u[0] with p[token] /
q[token]."""

def verify(p, q, token, u):
    own = draw(p, u[0])
    return own, own == token

# %% one-u-for-both
# killed_by: law
"""You draw the replacement with u[0], the number that turned the proposal down. There it is above
p[token] / q[token] for certain, so that tokens at the beginning of the vocabulary come out too
rarely. u[1] is there for it."""

def verify(p, q, token, u):
    if _keeps(p, q, token, u[0]):
        return int(token), True
    return draw(_rest(p, q), u[0]), False

# %% residual-absolute
# killed_by: law
"""You draw the replacement from the absolute differences of p and q. Tokens that q overrates are
among them, and those have come out often enough as kept proposals. Only what p has beyond q is
missing: max(p - q, 0)."""

def _rest(p, q):
    rest = np.abs(p - q)
    return rest / rest.sum() if rest.any() else p

# %% resamples-from-draft
# killed_by: law
"""After a rejection you draw from q once more. What the draft overrates comes out too often, and
what it never proposes never comes. Draw from what p has beyond q, max(p - q, 0), scaled to sum to
1."""

def _rest(p, q):
    return q

# %% numbers-change-places
# killed_by: draws
"""You decide with u[1] and draw the replacement with u[0]. What comes out is distributed as p all
the same, but not what these two numbers ask for: u[0] decides, u[1] draws."""

_as_asked = verify

def verify(p, q, token, u):
    return _as_asked(p, q, token, (u[1], u[0]))

# %% zero-accepted
# killed_by: impossible
"""You keep a proposal where u[0] equals the limit. u[0] may be 0, and so may p[token]: then a token
comes out that the target rules out. u is below 1 and may be 0, so the comparison is strict."""

def _keeps(p, q, token, u):
    return bool(u * q[token] <= p[token])

# %% no-bonus
# killed_by: chain
"""A step in which all k proposals are kept ends after k tokens. Usually the loop over proposals is
also the end of the function. The target's pass has k + 1 rows, and nobody has used the last: draw
one more token from it, with u[2 * k]."""

def _new(p, qs, proposals, k, u):
    new = []
    for i in range(k):
        token, kept = verify(p[i], qs[i], proposals[i], (u[k + i], u[2 * k]))
        new.append(token)
        if not kept:
            break
    return new

# %% no-bonus / caught-up
def _new(p, qs, proposals, k, u):
    new = []
    for i in range(k):
        token, kept = verify(p[i], qs[i], proposals[i], (u[k + i], u[2 * k]))
        new.append(token)
        if not kept:
            break
    return new

def _lacking(draft, text):
    return text[-1:]

# %% text-extended
# killed_by: caches
"""You append the new tokens to the caller's text as well as returning them. The caller appends what it
gets, and has them twice. Build a list of your own."""
_returned = step

def step(target, draft, text, k, u, top_p=1.0):
    new = _returned(target, draft, text, k, u, top_p)
    text += new
    return new

# %% bonus-from-last-row
# killed_by: chain
"""After k kept proposals you draw the last token from the row that decided about the last proposal.
That row is about the place where the proposal stands. The row after it, p[k], is about the token
that follows."""

def _new(p, qs, proposals, k, u):
    new = []
    for i in range(k):
        token, kept = verify(p[i], qs[i], proposals[i], (u[k + i], u[2 * k]))
        new.append(token)
        if not kept:
            return new
    return [*new, draw(p[k - 1], u[2 * k])]

# %% bonus-from-draft
# killed_by: chain
"""After k kept proposals you let the draft add the last token, and nobody checks it. The target's
pass has a row for it: p[k]."""

def step(target, draft, text, k, u, top_p=1.0):
    proposals, qs = _proposals(draft, text, k, u, top_p)
    qs.append(probs(draft.extend(proposals[-1:])[-1], top_p))
    p = probs(_rows(target, text, proposals), top_p)
    p[k] = qs[k]
    new = _new(p, qs, proposals, k, u)
    _cut(target, draft, len(text) + len(new) - 1)
    return new

# %% goes-on-after-rejection
# killed_by: chain
"""You go on to the next proposal after one was turned down. It was proposed as a continuation of
the rejected token, and the target's row about it was computed after that token, so neither belongs
to the text any more. A step ends with the first rejection."""

def _new(p, qs, proposals, k, u):
    found = [verify(p[i], qs[i], proposals[i], (u[k + i], u[2 * k])) for i in range(k)]
    new = [token for token, _ in found]
    return [*new, draw(p[k], u[2 * k])] if all(kept for _, kept in found) else new

# %% goes-on-after-rejection / to-the-end
def _new(p, qs, proposals, k, u):
    found = [verify(p[i], qs[i], proposals[i], (u[k + i], u[2 * k])) for i in range(k)]
    return [*(token for token, _ in found), draw(p[k], u[2 * k])]

# %% rejected-stay-in-cache
# killed_by: chain
"""After a rejection the target's cache still holds the proposals that were turned down, and later
logits depend on them. Usually only the list of tokens was shortened. Truncate the cache to what is
in the text, less its last token."""

def _cut(target, draft, n):
    draft.truncate(n)

# %% draft-keeps-rejected
# killed_by: chain
"""After a rejection the draft's cache still holds its own proposals. The text keeps its
distribution, because the q of the test is the one that was drawn from, but proposals follow another
text and fewer are kept. Truncate both caches."""

def _cut(target, draft, n):
    target.truncate(n)

def _lacking(draft, text):
    return text[-1:]

# %% draft-keeps-rejected / fed-by-count
def _cut(target, draft, n):
    target.truncate(n)

def _lacking(draft, text):
    return text[len(draft.tokens) :] or text[-1:]

# %% draft-not-caught-up
# killed_by: chain
"""You feed the draft the last token of the text only. After k kept proposals its cache lacks one
more, the last proposal, which was never fed. The text keeps its distribution, since the q of the
test is the one that was drawn from; what suffers is the speed. Feed everything that the cache
lacks."""

def _lacking(draft, text):
    return text[-1:]

# %% tests-with-unfiltered-q
# killed_by: nucleus
"""Proposals are drawn from the filtered q and tested with the unfiltered one, which is smaller on
the tokens that the filter left: they are kept too often. Usually the raw softmax was stored for
later. The q of the test has to be the one that was drawn from."""

def _proposals(draft, text, k, u, top_p):
    proposals, qs, feed = [], [], _lacking(draft, text)
    for i in range(k):
        row = draft.extend(feed)[-1]
        proposals.append(draw(probs(row, top_p), u[i]))
        qs.append(probs(row))
        feed = proposals[-1:]
    return proposals, qs

# %% filter-forgotten-on-draft
# killed_by: nucleus
"""Only the target is filtered by top_p. The text has the right distribution, since any q will do
that the proposals are drawn from, but tokens are proposed that the target never takes. The draft
proposes with the same top_p."""

def _proposals(draft, text, k, u, top_p):
    proposals, qs, feed = [], [], _lacking(draft, text)
    for i in range(k):
        qs.append(probs(draft.extend(feed)[-1]))
        proposals.append(draw(qs[-1], u[i]))
        feed = proposals[-1:]
    return proposals, qs

# %% filter-forgotten-on-target
# killed_by: nucleus
"""The target's distribution is not filtered by top_p, so that replacements and the token at the end
may be ones that the user excluded. Take probs with top_p on both sides."""

def step(target, draft, text, k, u, top_p=1.0):
    proposals, qs = _proposals(draft, text, k, u, top_p)
    new = _new(probs(_rows(target, text, proposals)), qs, proposals, k, u)
    _cut(target, draft, len(text) + len(new) - 1)
    return new

# %% draft-starts-over
# killed_by: caches
"""You empty the draft's cache at the end of a step, and feed it the whole text again in the next.
The tokens are right, and a step becomes longer with the text. Cut the cache to the part of the text
that it holds."""

def _cut(target, draft, n):
    target.truncate(n)
    draft.truncate(0)

# %% one-pass-per-draft
# killed_by: passes
"""You call the target once for each proposal. Each call reads all its weights, which is what a step
is to do once: the tokens are right and nothing is gained. Feed the last token of the text and all
proposals in one call; its rows are the k + 1 distributions."""

def _rows(target, text, proposals):
    return np.array([target.extend([token])[0] for token in [text[-1], *proposals]])

# %% draft-fed-again
# killed_by: passes
"""For every proposal you cut the draft's cache back and feed it all proposals so far once more. The
tokens are right, and the draft has k / 2 times the work. Its cache holds them: feed the newest
alone."""

def _proposals(draft, text, k, u, top_p):
    proposals, qs = [], []
    held = len(draft.tokens)
    for i in range(k):
        draft.truncate(held)
        qs.append(probs(draft.extend([*text[held:], *proposals])[-1], top_p))
        proposals.append(draw(qs[-1], u[i]))
    return proposals, qs

# %% nothing-left-nan
# killed_by: nothing-left
"""Where p and q are equal but for rounding, a proposal may be turned down although p exceeds q
nowhere. You divide the remainder by its sum, 0, and draw from NaN. Take p if nothing is left."""

def _rest(p, q):
    rest = np.maximum(p - q, 0.0)
    with np.errstate(invalid="ignore"):
        return rest / rest.sum()

# %% counts-past-the-rejection
# killed_by: plan
"""Your mean is 1 + k alpha, which counts every proposal that would be kept by itself. Usually the
decisions were taken for trials that all happen. After the first rejection the rest of a step is
thrown away: position i counts if all before it were kept, alpha^i."""

def _tokens(alpha, k):
    return 1 + k * alpha

# %% targets-token-not-counted
# killed_by: plan
"""You count the proposals that are kept, and not the token that ends the step. Every pass of the
target gives at least one token, whatever the draft is worth."""

def _tokens(alpha, k):
    return float(sum(alpha**i for i in range(1, k + 1)))

# %% alpha-is-a-dot-product
# killed_by: plan
"""Your alpha is the sum of p times q, the probability that two independent draws agree. A proposal
is drawn with q and kept with min(1, p / q), which is min(p, q) together: sum that."""

def _alpha(p, q):
    return float(p @ q)

# %% alpha-over-vocabulary
# killed_by: plan
"""Your alpha is the mean of min(1, p / q) over the vocabulary. Proposals are not uniform over it:
each token is proposed with q, so q is its weight, and the sum is that of min(p, q)."""

def _alpha(p, q):
    with np.errstate(divide="ignore", invalid="ignore"):
        return float(np.mean(np.where(q > 0, np.minimum(1, p / q), 1)))

# %% cost-of-the-target-left-out
# killed_by: plan
"""You divide by the cost of the draft alone. The target's pass is a part of the step: it takes
1 + k * cost."""

def plan(p, q, k, cost):
    alpha = _alpha(p, q)
    tokens = _tokens(alpha, k)
    speedup = tokens / (k * cost) if cost else np.inf
    return {
        "alpha": alpha,
        "tokens": tokens,
        "speedup": speedup,
        "break_even": _break_even(tokens, k),
    }

# %% break-even-of-one-draft
# killed_by: plan
"""Your break-even is the cost of all passes of the draft in a step together. There are k of them:
1 + k * cost is tokens at cost = (tokens - 1) / k."""

def _break_even(tokens, k):
    return tokens - 1

# %% geometric-at-one
# killed_by: own-draft
"""You use (1 - alpha^(k + 1)) / (1 - alpha), which is 0 / 0 where alpha is 1, and NaN or an
exception comes out. p may equal q, and then a step yields k + 1 tokens. Add up the powers, or treat
1 by itself."""

def _tokens(alpha, k):
    with np.errstate(invalid="ignore", divide="ignore"):
        return float((1 - np.float64(alpha) ** (k + 1)) / (1 - np.float64(alpha)))

# %% geometric-at-one / raises
def _tokens(alpha, k):
    return (1 - alpha ** (k + 1)) / (1 - alpha)

# %% residual-turned-round
# killed_by: law
"""After a rejection you draw from what q has beyond p. Those are the tokens that the draft overrates,
and they have come out often enough as kept proposals. It is the other way round: max(p - q, 0), what
the target still lacks."""

def _rest(p, q):
    rest = np.maximum(q - p, 0.0)
    total = rest.sum()
    return rest / total if total > 0 else p

# %% last-token-unfiltered
# killed_by: nucleus
"""After k kept proposals the last token is drawn from the target's distribution without top_p, so that
it may be one that the user excluded. Proposals and replacements are filtered. Take probs with top_p
for the last row, too."""

def step(target, draft, text, k, u, top_p=1.0):
    proposals, qs = _proposals(draft, text, k, u, top_p)
    rows = _rows(target, text, proposals)
    p = probs(rows, top_p)
    p[k] = probs(rows[k])
    new = _new(p, qs, proposals, k, u)
    _cut(target, draft, len(text) + len(new) - 1)
    return new

# %% break-even-at-alpha
# killed_by: plan
"""Your break-even is alpha, the share of proposals that is kept. That is the limit for k = 1 only. With
more proposals, later ones are reached less and less often: 1 + k * cost is tokens at
cost = (tokens - 1) / k."""

def plan(p, q, k, cost):
    alpha = _alpha(p, q)
    tokens = _tokens(alpha, k)
    speedup = tokens / (1 + k * cost)
    return {"alpha": alpha, "tokens": tokens, "speedup": speedup, "break_even": alpha}
