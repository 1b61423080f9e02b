# %% crossing-token-dropped
# killed_by: nucleus
"""You keep tokens while the total that includes them is at most top_p, so the token that carries it
past top_p is dropped, and the choice is narrower than it was set. Where the first token alone has
more than top_p, nothing would stay without a guard. The nucleus is the smallest set that reaches
top_p: keep a token while the total before it is below top_p."""

def _nucleus(shares, top_p):
    if top_p == 1:
        return shares
    keep = np.cumsum(shares) <= top_p
    keep[:1] = True
    return shares[keep]

# %% crossing-token-dropped / unguarded
def probs(logits, temperature=1.0, top_k=0, top_p=1.0):
    p = np.zeros(logits.shape)
    for own, row in zip(p, logits, strict=True):
        order = _ranked(row, top_k)
        shares = _shares(row[order], temperature)
        keep = np.cumsum(shares) <= (top_p if top_p < 1 else 2)
        own[order[: len(shares)]] = np.where(keep, shares, 0)
        if len(shares):
            own /= own.sum()
    return p

# %% one-too-many
# killed_by: nucleus
"""You keep one token too many: the set has reached top_p without it. Usually the running totals
were moved by two places, or a strict comparison and a shift both added one. A token stays if the
total before it is below top_p."""

def _nucleus(shares, top_p):
    if top_p == 1:
        return shares
    before = np.cumsum(shares)[:-1]
    return shares[: 2 + np.searchsorted(before, top_p)]

# %% threshold-on-token
# killed_by: nucleus
"""You compare the probability of each token with top_p. Where no token has that much by itself,
nothing passes the comparison. top_p is about the total of the tokens that are kept: add them up
from the most probable one on."""

def _nucleus(shares, top_p):
    keep = shares >= (top_p if top_p < 1 else 0)
    keep[:1] = True
    return shares[keep]

# %% threshold-on-token / unguarded
def probs(logits, temperature=1.0, top_k=0, top_p=1.0):
    p = np.zeros(logits.shape)
    for own, row in zip(p, logits, strict=True):
        order = _ranked(row, top_k)
        shares = _shares(row[order], temperature)
        keep = shares >= (top_p if top_p < 1 else 0)
        own[order[: len(shares)]] = np.where(keep, shares, 0)
        if len(shares):
            own /= own.sum()
    return p

# %% min-p
# killed_by: nucleus
"""You keep the tokens that have at least top_p times the probability of the best one. That is
min-p, another filter, with other numbers for the same setting. top_p is about the total of the
tokens that are kept."""

def _nucleus(shares, top_p):
    return shares if top_p == 1 else shares[shares >= top_p * shares[:1]]

# %% sort-not-undone
# killed_by: nucleus
"""Your mask is in the order of the sort and is used in that of the vocabulary: as many tokens stay
as should, but they are the first ones of the vocabulary, probable or not. Send the mask back
through the order of the sort, mask[order] = keep."""

def probs(logits, temperature=1.0, top_k=0, top_p=1.0):
    p = np.zeros(logits.shape)
    for own, row in zip(p, logits, strict=True):
        order = _ranked(row, top_k)
        shares = _shares(row[order], temperature)
        own[order[: len(shares)]] = shares
        if top_p < 1:
            own[len(_nucleus(shares, top_p)) :] = 0
            own /= own.sum()
    return p

# %% returns-sorted
# killed_by: nucleus
"""Your probabilities are right, but they stand in falling order: index 0 is the most probable token
and not token 0. What is drawn by them are ranks. Put them back in the order of the vocabulary."""

def probs(logits, temperature=1.0, top_k=0, top_p=1.0):
    p = np.zeros(logits.shape)
    for own, row in zip(p, logits, strict=True):
        kept = _nucleus(_shares(row[_ranked(row, top_k)], temperature), top_p)
        own[: len(kept)] = kept / kept.sum()
    return p

# %% not-renormalized
# killed_by: nucleus
"""The tokens that you keep have the probabilities that they had before they were filtered. They sum
to less than 1, and a u beyond that sum finds no token. Divide what is kept by its total."""

def probs(logits, temperature=1.0, top_k=0, top_p=1.0):
    p = np.zeros(logits.shape)
    for own, row in zip(p, logits, strict=True):
        order = _ranked(row, top_k)
        kept = _nucleus(_shares(row[order], temperature), top_p)
        own[order[: len(kept)]] = kept
    return p

# %% not-renormalized / at-all
def probs(logits, temperature=1.0, top_k=0, top_p=1.0):
    p = np.zeros(logits.shape)
    for own, row in zip(p, logits, strict=True):
        order = _ranked(row, 0)
        shares = _shares(row[order], temperature)[: top_k or len(row)]
        kept = _nucleus(shares, top_p)
        own[order[: len(kept)]] = kept
    return p

# %% k-plus-one
# killed_by: top-k
"""With top_k set you keep one token more than k. Usually the k-th largest is looked up at index k
of a sorted row, which is the place after it. With k = 1 that shows at once: two tokens stay."""

_right = _ranked

def _ranked(row, top_k):
    return _right(row, top_k + 1 if top_k else 0)

# %% filter-before-temperature
# killed_by: temperature
"""You choose the tokens at temperature 1 and apply the temperature to what was chosen. Above 1 it
should let more tokens into the nucleus; yours only levels those that were in already. Some stacks
do it in that order; here the division comes first."""

def probs(logits, temperature=1.0, top_k=0, top_p=1.0):
    p = np.zeros(logits.shape)
    for own, row in zip(p, logits, strict=True):
        order = _ranked(row, top_k)
        chosen = order[: len(_nucleus(_shares(row[order], 1.0), top_p))]
        shares = _shares(row[chosen], temperature)
        own[chosen[: len(shares)]] = shares
    return p

# %% temperature-multiplies
# killed_by: temperature
"""You multiply the logits by the temperature. Then a high one makes the distribution sharp, and a
low one flat. Divide."""

def _shares(logits, temperature):
    if temperature == 0:
        return np.ones_like(logits[:1])
    e = np.exp((logits - logits[:1]) * temperature)
    return e / e.sum()

# %% nucleus-before-k
# killed_by: all-three
"""You measure top_p against the whole vocabulary, and not against what top_k has left. Either the
nucleus is taken first, or the shares are not rescaled after top_k, which comes to the same. Tokens
have smaller shares then, so more of them stay. Rescale what top_k leaves to a total of 1, and
measure top_p on that."""

def probs(logits, temperature=1.0, top_k=0, top_p=1.0):
    p = np.zeros(logits.shape)
    for own, row in zip(p, logits, strict=True):
        order = _ranked(row, 0)
        kept = _nucleus(_shares(row[order], temperature), top_p)[: top_k or len(row)]
        own[order[: len(kept)]] = kept / kept.sum()
    return p

# %% cdf-in-sorted-order
# killed_by: draws
"""Your running total goes through the tokens in falling order of probability. That draws from the
right distribution, but another token for the same u. Here the total runs in the order of the
vocabulary."""

def _draw(row, u):
    if not row.any():
        return -1
    order = np.argsort(-row, kind="stable")[: np.count_nonzero(row)]
    place = np.searchsorted(np.cumsum(row[order]), u, side="right")
    return int(order[min(int(place), len(order) - 1)])

# %% one-draw-for-all
# killed_by: draws
"""You use the first u for every row. Rows with equal logits then always draw the same token, and
the other numbers are wasted. Row i has u[i]."""

def sample(logits, u, temperature=1.0, top_k=0, top_p=1.0):
    p = probs(logits, temperature, top_k, top_p)
    return np.array([_draw(row, u[0]) for row in p], np.int64)

# %% scales-in-place
# killed_by: temperature
"""You divide the caller's own logits by the temperature. Others read them (log-probabilities, a
second sampler), and find changed numbers. Compute in an array of your own."""

_right = probs

def probs(logits, temperature=1.0, top_k=0, top_p=1.0):
    if temperature == 0:
        return _right(logits, 0, top_k, top_p)
    logits /= temperature
    return _right(logits, 1.0, top_k, top_p)

# %% bans-in-place
# killed_by: top-k
"""You write minus infinity over the caller's logits, wherever a filter drops a token. The next
sampler finds them banned. Compute in an array of your own."""

_right = probs

def probs(logits, temperature=1.0, top_k=0, top_p=1.0):
    p = _right(logits, temperature, top_k, 1.0)
    logits[p == 0] = -np.inf
    return _right(logits, temperature, top_k, top_p)

# %% at-least-two
# killed_by: nucleus
"""Your nucleus never has fewer than two tokens. Some libraries have such a setting
(min_tokens_to_keep); here the first token is enough where it alone reaches top_p."""

_right = _nucleus

def _nucleus(shares, top_p):
    kept = _right(shares, top_p)
    return shares[: max(len(kept), 2)]

# %% draws-unfiltered
# killed_by: draws
"""sample draws from the softmax before the filters: tokens come out to which probs gives 0. Draw
from what probs returns."""

def sample(logits, u, temperature=1.0, top_k=0, top_p=1.0):
    p = probs(logits, temperature)
    return np.array([_draw(row, number) for row, number in zip(p, u, strict=True)], np.int64)

# %% ties-by-partition
# killed_by: ties
"""Which of equal logits stay is left to np.argpartition, which promises nothing about them. Take
its k-th value: all above it stay, and of those equal to it the ones with the lower index until
there are k."""

def _ranked(row, top_k):
    tokens = np.flatnonzero(row > -np.inf)
    if 0 < top_k < len(tokens):
        place = len(tokens) - top_k
        tokens = tokens[np.argpartition(row[tokens], place)[place:]]
    return tokens[np.argsort(-row[tokens], kind="stable")]

# %% ties-by-partition / descending
def _ranked(row, top_k):
    tokens = np.flatnonzero(row > -np.inf)
    if 0 < top_k < len(tokens):
        place = len(tokens) - top_k
        tokens = tokens[np.argpartition(-row[tokens], top_k - 1)[:top_k]]
    return tokens[np.argsort(-row[tokens], kind="stable")]

# %% ties-by-partition / next
def _ranked(row, top_k):
    tokens = np.flatnonzero(row > -np.inf)
    if 0 < top_k < len(tokens):
        place = len(tokens) - top_k
        tokens = tokens[np.argpartition(-row[tokens], top_k)[:top_k]]
    return tokens[np.argsort(-row[tokens], kind="stable")]

# %% nucleus-ties-kept
# killed_by: ties
"""Every token as probable as the last one of the nucleus stays as well. top_p keeps the fewest: of
equal ones those with the lower index, until it is reached."""

_right = _nucleus

def _nucleus(shares, top_p):
    kept = _right(shares, top_p)
    return shares[: np.count_nonzero(shares >= kept[-1])] if len(kept) else kept

# %% ties-all-kept
# killed_by: ties
"""You keep every token whose logit equals the k-th largest one, so that more than k may stay. Of
equal ones take those with the lower index until there are k."""

def _ranked(row, top_k):
    tokens = np.flatnonzero(row > -np.inf)
    if 0 < top_k < len(tokens):
        tokens = np.flatnonzero(row >= np.sort(row)[-top_k])
    return tokens[np.argsort(-row[tokens], kind="stable")]

# %% ties-by-last-index
# killed_by: ties
"""Of equal logits you keep those with the higher index. Usually an ascending sort was reversed,
which reverses ties as well. A stable argsort of the negated logits has the lower index first."""

def probs(logits, temperature=1.0, top_k=0, top_p=1.0):
    p = np.zeros(logits.shape)
    for own, row in zip(p, logits, strict=True):
        order = np.argsort(row, kind="stable")[::-1][: np.count_nonzero(row > -np.inf)]
        order = order[: top_k or len(row)]
        if temperature == 0 and len(order):
            own[np.argmax(row)] = 1
            continue
        kept = _nucleus(_shares(row[order], temperature), top_p)
        own[order[: len(kept)]] = kept / kept.sum()
    return p

# %% ties-by-last-index / throughout
def _ranked(row, top_k):
    order = np.argsort(row, kind="stable")[::-1][: np.count_nonzero(row > -np.inf)]
    return order[: top_k or len(row)]

# %% k-clipped
# killed_by: limits
"""With top_k at V or above you drop the least probable token. Usually k is clipped to V - 1, so
that it is an index into the row. With k >= V there is nothing to drop."""

_right = _ranked

def _ranked(row, top_k):
    return _right(row, min(top_k, len(row) - 1))

# %% summed-from-below
# killed_by: limits
"""You add up from the least probable token and keep what exceeds 1 - top_p. With a top_p of 1e-20
that is 1 after rounding, nothing exceeds it, and 0 divided by 0 is NaN. Add up from the most
probable token: the first one always stays."""

def _nucleus(shares, top_p):
    if top_p == 1:
        return shares
    return shares[np.cumsum(shares[::-1])[::-1] > 1 - top_p]

# %% temperature-zero-divides
# killed_by: greedy
"""At temperature 0 you divide by it: infinity minus infinity and 0 / 0 are NaN, and so is your row.
Treat 0 as a case of its own, in which the most probable token has a probability of 1."""

def probs(logits, temperature=1.0, top_k=0, top_p=1.0):
    p = np.zeros(logits.shape)
    for own, row in zip(p, logits, strict=True):
        order = _ranked(row, top_k)
        if temperature == 0 and len(order):
            own[:] = np.nan
            continue
        kept = _nucleus(_shares(row[order], temperature), top_p)
        own[order[: len(kept)]] = kept / kept.sum()
    return p

# %% zero-is-another
# killed_by: greedy
"""At temperature 0 you give what another temperature gives: 1, as if it were switched off, or equal
shares, as if it were infinite. As the temperature falls all probability moves to the best token."""

_right = probs

def probs(logits, temperature=1.0, top_k=0, top_p=1.0):
    return _right(logits, temperature or 1.0, top_k, top_p)

# %% zero-is-another / zero-is-uniform
_of_warm = _shares

def _shares(logits, temperature):
    if temperature == 0:
        return np.full(len(logits), 1 / max(len(logits), 1))
    return _of_warm(logits, temperature)

# %% greedy-shares
# killed_by: greedy
"""At temperature 0 tokens that tie for the largest logit share the probability. Usually 0 is
replaced by a tiny temperature, which is no more able to tell them apart. The contract wants one
token, the first of them."""

def probs(logits, temperature=1.0, top_k=0, top_p=1.0):
    p = np.zeros(logits.shape)
    for own, row in zip(p, logits, strict=True):
        if temperature == 0:
            best = (row == row.max()) & (row > -np.inf)
            own[best] = 1 / max(1, best.sum())
            continue
        order = _ranked(row, top_k)
        kept = _nucleus(_shares(row[order], temperature), top_p)
        own[order[: len(kept)]] = kept / kept.sum()
    return p

# %% no-maximum-taken-off
# killed_by: steep
"""Your exponentials are of the logits themselves. exp(710) is infinite in float64, and exp(-800) is
0: a row of large ones, and one that is far below 0, both end in NaN. Take the largest logit of the
row off first."""

def _shares(logits, temperature):
    if temperature == 0:
        return np.ones_like(logits[:1])
    e = np.exp(logits / temperature)
    return e / e.sum()

# %% one-maximum-for-all
# killed_by: steep
"""One maximum, that of the batch, is taken off every row. A row that lies thousands below it has
nothing but exponentials of 0, and 0 / 0 is NaN. Take each row's own."""

_right = probs
_tops = []

def probs(logits, temperature=1.0, top_k=0, top_p=1.0):
    _tops[:] = [logits.max()]
    return _right(logits, temperature, top_k, top_p)

def _shares(logits, temperature):
    if temperature == 0:
        return np.ones_like(logits[:1])
    e = np.exp((logits - _tops[0]) / temperature)
    return e / e.sum()

# %% filtered-at-one
# killed_by: support
"""With top_p = 1.0 you filter all the same. Once the total has rounded to 1, every token after that
is dropped, though its probability is a positive number. 1.0 means that top_p is off."""

def _nucleus(shares, top_p):
    before = np.cumsum(shares)[:-1]
    return shares[: 1 + np.searchsorted(before, top_p)]

# %% all-banned
# killed_by: banned
"""A row in which all tokens are banned does not come out as zeros. Minus infinity less itself, and
0 / 0, are NaN; where a large number stands in for minus infinity such a row becomes uniform; at
temperature 0 a search for the maximum finds token 0. It has no distribution: probabilities of 0,
and -1 as the draw."""

_right = probs

def probs(logits, temperature=1.0, top_k=0, top_p=1.0):
    p = _right(logits, temperature, top_k, top_p)
    p[~p.any(axis=1)] = np.nan
    return p

def _draw(row, u):
    if np.isnan(row).any():
        return 0
    place = np.searchsorted(np.cumsum(row), u, side="right")
    return min(int(place), int(np.flatnonzero(row)[-1]))

# %% all-banned / greedy
def _ranked(row, top_k):
    tokens = np.argsort(-row, kind="stable")
    if np.isneginf(row).all():
        return tokens
    return tokens[: min(np.count_nonzero(row > -np.inf), top_k or len(row))]

# %% all-banned / uniform
_right = probs

def probs(logits, temperature=1.0, top_k=0, top_p=1.0):
    banned = np.isneginf(logits).all(axis=1)
    return _right(np.where(banned[:, None], 0.0, logits), temperature, top_k, top_p)

# %% empty-row-draws
# killed_by: edges
"""From a row in which all tokens are banned sample draws one of them. A search in a running total
that never exceeds u, or that is NaN, finds nothing, and what it returns then looks like a token.
The contract wants -1."""

_right = _draw

def _draw(row, u):
    return _right(row, u) if row.any() else 0

# %% empty-row-draws / last
_right = _draw

def _draw(row, u):
    return _right(row, u) if row.any() else len(row) - 1

# %% boundary-inclusive
# killed_by: edges
"""You take the first token at which the running total reaches u. For u = 0 that is token 0 at once,
banned or not. Ask for a total that exceeds u: side="right" in np.searchsorted."""

def _draw(row, u):
    tokens = np.flatnonzero(row)
    if len(tokens) == 0:
        return -1
    return min(int(np.searchsorted(np.cumsum(row), u)), int(tokens[-1]))

# %% boundary-inclusive / unguarded
def _draw(row, u):
    return int(np.searchsorted(np.cumsum(row), u))

# %% boundary-inclusive / clipped
def _draw(row, u):
    return min(int(np.searchsorted(np.cumsum(row), u)), len(row) - 1)

# %% past-the-end
# killed_by: edges
"""Where rounding leaves the running total at or below u, you do not draw the last token that has a
probability. A search that finds nothing gives token 0, the last token of the vocabulary though it
may be banned, or V, which is no token. Take the last one with a positive probability instead."""

def _draw(row, u):
    return int(np.argmax(np.cumsum(row) > u)) if row.any() else -1

# %% past-the-end / last
def _draw(row, u):
    if not row.any():
        return -1
    return min(int(np.searchsorted(np.cumsum(row), u, side="right")), len(row) - 1)

# %% past-the-end / last-of-all
def _draw(row, u):
    return min(int(np.searchsorted(np.cumsum(row), u, side="right")), len(row) - 1)

# %% past-the-end / beyond
def _draw(row, u):
    return int(np.searchsorted(np.cumsum(row), u, side="right")) if row.any() else -1

# %% filters-by-default
# killed_by: defaults
"""With no setting given you keep 50 tokens, which is a default of some libraries. In the interface
top_k is 0 unless it is given, and then nothing is filtered."""

_filtered, _drawn = probs, sample

def probs(logits, temperature=1.0, top_k=50, top_p=1.0):
    return _filtered(logits, temperature, top_k, top_p)

def sample(logits, u, temperature=1.0, top_k=50, top_p=1.0):
    return _drawn(logits, u, temperature, top_k, top_p)

# %% one-buffer
# killed_by: defaults
"""Every call returns the same array, so that the next one overwrites what a caller still holds.
Return a new array."""

_right, _buffers = probs, {}

def probs(logits, temperature=1.0, top_k=0, top_p=1.0):
    buffer = _buffers.setdefault(logits.shape, np.empty(logits.shape))
    buffer[...] = _right(logits, temperature, top_k, top_p)
    return buffer

# %% any-of-the-level
# killed_by: wide
"""Of a large vocabulary you take the k tokens that np.argpartition gives. It puts any of those that equal
the k-th logit first, and the contract asks for the ones with the lowest index. Take all tokens above
the k-th logit, and of those that equal it the first, until there are k."""

right_ranked = _ranked

def _ranked(row, top_k):
    if not 0 < top_k < len(row) or len(row) < 1000:
        return right_ranked(row, top_k)
    tokens = np.argpartition(-row, top_k)[:top_k]
    return tokens[np.argsort(-row[tokens], kind="stable")]
