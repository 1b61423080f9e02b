# %% heads-by-reshape
# killed_by: [values, past]
"""Your heads are cut out of the tokens, not out of the features: head h holds a stretch of the
sequence, T / heads tokens long, and tokens in different stretches never attend to each other. With
T = 9 and 3 heads, token 0 reaches tokens 0 to 2 only. A reshape keeps the order in memory, where
all features of a token come before the next token. Split the last axis first, then move the head
axis to the front, reshape(B, T, heads, dh).transpose(0, 2, 1, 3); on the way back swap first."""

def _split(a, heads):
    batch, tokens, features = a.shape
    return a.reshape(batch, heads, tokens, features // heads)

def _merged(a):
    batch, heads, tokens, width = a.shape
    return a.reshape(batch, tokens, heads * width)

# %% split-by-reshape
# killed_by: future
"""Your heads are joined rightly, but cut out of the tokens, not out of the features: head h holds a
stretch of the sequence, and all its rows are taken for the features of head h. Row t of the result
then holds other tokens, later ones among them. Usually this is a reshape to (B, heads, T, dh).
Split the last axis first, then move the head axis to the front, reshape(B, T, heads,
dh).transpose(0, 2, 1, 3)."""

def _split(a, heads):
    batch, tokens, features = a.shape
    return a.reshape(batch, heads, tokens, features // heads)

# %% merge-by-reshape
# killed_by: future
"""Each head is right, but they are joined with the head axis still in front of the tokens. Row t of
the result mixes several tokens, later ones among them. Usually this is a reshape of (B, heads, T,
dh) to (B, T, D). Swap the axes of heads and tokens before it."""

def _merged(a):
    batch, heads, tokens, width = a.shape
    return a.reshape(batch, tokens, heads * width)

# %% heads-interleaved
# killed_by: values
"""A head of yours reads, or writes, every heads-th column, beginning with column h. The columns of
a head lie next to each other: h * dh to (h + 1) * dh - 1. Usually the last axis was split into (dh,
heads), or joined so; it is (heads, dh)."""

def _split(a, heads):
    batch, tokens, features = a.shape
    return a.reshape(batch, tokens, features // heads, heads).transpose(0, 3, 1, 2)

def _merged(a):
    batch, heads, tokens, width = a.shape
    return a.transpose(0, 2, 3, 1).reshape(batch, tokens, heads * width)

# %% heads-interleaved / split
def _split(a, heads):
    batch, tokens, features = a.shape
    return a.reshape(batch, tokens, features // heads, heads).transpose(0, 3, 1, 2)

# %% heads-interleaved / merge
def _merged(a):
    batch, heads, tokens, width = a.shape
    return a.transpose(0, 2, 3, 1).reshape(batch, tokens, heads * width)

# %% qkv-per-head
# killed_by: values
"""You read the columns of w_qkv as queries, keys and values of the first head, then of the second,
and so on. Some checkpoints are laid out so. Here all queries come first, then all keys, then all
values. With one head the two are the same."""

def _projections(x, w_qkv, heads, kv_heads):
    if kv_heads != heads:
        ends = [x.shape[-1], x.shape[-1] + kv_heads * (x.shape[-1] // heads)]
        q, k, v = np.split(x @ w_qkv, ends, axis=-1)
        return (_shared(_split(a, n), heads) for a, n in ((q, heads), (k, kv_heads), (v, kv_heads)))
    batch, tokens, features = x.shape
    fused = (x @ w_qkv).reshape(batch, tokens, heads, 3, features // heads)
    return (fused[..., i, :].transpose(0, 2, 1, 3) for i in range(3))

# %% values-before-keys
# killed_by: one-head
"""You read the columns of w_qkv as queries, values and keys. The keys come before the values."""

_right = _projections

def _projections(x, w_qkv, heads, kv_heads):
    q, k, v = _right(x, w_qkv, heads, kv_heads)
    return q, v, k

# %% mask-after-softmax
# killed_by: one-head
"""Your softmax runs over all keys, and hidden weights become 0 after it. By then later tokens have
had their share of the sum: your rows add up to less than 1, by an amount that depends on the
future. Hide the scores before the softmax."""

def _attended(q, k, v, keep):
    visible = _visible(0, q.shape[2], keep)
    return _weights(_scores(q, k), True) * visible @ v

# %% mask-with-zero
# killed_by: one-head
"""The scores of later tokens are 0 in your softmax, and exp(0) is 1: a hidden key still gets
weight, often more than one that may be seen. Usually the scores are multiplied by the mask. A score
that must get no weight is minus infinity."""

def _attended(q, k, v, keep):
    visible = _visible(0, q.shape[2], keep)
    return _weights(_scores(q, k) * visible, True) @ v

# %% mask-with-zero / above-the-diagonal
def _attended(q, k, v, keep):
    scores = _scores(q, k) * _visible(0, q.shape[2], None)
    return _weights(scores, True if keep is None else keep[:, None, None, :]) @ v

# %% mask-transposed
# killed_by: one-head
"""In your code token t attends to itself and to what follows. Rows of the scores are queries and
columns are keys, and query t sees the keys s with s <= t. Usually this is np.triu where np.tril
belongs, or a mask with its axes swapped."""

def _attended(q, k, v, keep):
    visible = _visible(0, q.shape[2], None).T
    if keep is not None:
        visible = visible & keep[:, None, None, :]
    return _weights(_scores(q, k), visible) @ v

# %% sees-everything
# killed_by: one-head
"""Every token attends to all tokens, later ones too. Hide the scores of keys s > t from query t
before the softmax."""

def _attended(q, k, v, keep):
    return _weights(_scores(q, k), True if keep is None else keep[:, None, None, :]) @ v

# %% sees-everything / and-padding
def _attended(q, k, v, keep):
    return _weights(_scores(q, k), True) @ v

# %% sees-one-ahead
# killed_by: one-head
"""Token t attends to tokens 0 to t + 1, one too many. A language model then finds the very token it
has to predict among its inputs. Usually this is a diagonal of np.tril or np.triu that is off by
one; query t sees s <= t."""

def _attended(q, k, v, keep):
    visible = np.tri(q.shape[2], k=1, dtype=bool)
    if keep is not None:
        visible = visible & keep[:, None, None, :]
    return _weights(_scores(q, k), visible) @ v

# %% itself-left-out
# killed_by: one-head
"""Token t attends to tokens 0 to t - 1 and not to itself, so that token 0 sees nobody and gets 0,
NaN or a mean. Query t sees s <= t, itself included. Usually this is a < where <= belongs, or a
diagonal that is off by one."""

def _visible(first, last, keep):
    visible = np.arange(last) < np.arange(first, last)[:, None]
    return visible if keep is None else visible & keep[:, None, None, :last]

# %% itself-left-out / nan
_right = _visible

def _visible(first, last, keep):
    strict = np.arange(last) < np.arange(first, last)[:, None]
    return strict & _right(first, last, keep)

def _weights(scores, visible):
    scores = np.where(visible, scores, -np.inf)
    e = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)

# %% itself-left-out / filled
_right = _visible
BLOCK = 10**6

def _visible(first, last, keep):
    strict = np.arange(last) < np.arange(first, last)[:, None]
    return strict & _right(first, last, keep)

def _weights(scores, visible):
    scores = np.where(visible, scores, scores.dtype.type(-1e9))
    e = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)

# %% scale-by-d-model
# killed_by: values
"""You divide the scores by the square root of D, the width of the model. A dot product within one
head adds up dh products, so its spread grows with the square root of dh. Your weights are too flat,
and the flatter the more heads there are; with one head there is no difference."""

def _scale(q):
    return (q.shape[1] * q.shape[-1]) ** -0.5

# %% scale-by-dh
# killed_by: one-head
"""You divide the scores by dh, not by its square root. The spread of a dot product grows with the
root, so your weights are too flat."""

def _scale(q):
    return 1 / q.shape[-1]

# %% no-scale
# killed_by: one-head
"""Your scores are the dot products as they are. Divide them by the square root of dh: otherwise
they grow with the width of the head, and the softmax comes close to picking a single key."""

def _scale(q):
    return 1.0

# %% scale-multiplied
# killed_by: one-head
"""You multiply the scores by the square root of dh. A dot product of dh products is too large by
that already: divide."""

def _scale(q):
    return q.shape[-1] ** 0.5

# %% softmax-over-queries
# killed_by: one-head
"""In your code the weights that all queries give to one key add up to 1. Each query has a total of
1 for the keys that it sees, so the softmax runs over the last axis, that of the keys."""

def _attended(q, k, v, keep):
    visible = np.broadcast_to(_visible(0, q.shape[2], keep), (*q.shape[:3], q.shape[2]))
    scores = _scores(q, k).transpose(0, 1, 3, 2)
    return _weights(scores, visible.transpose(0, 1, 3, 2)).transpose(0, 1, 3, 2) @ v

# %% padding-ignored
# killed_by: padding
"""Padding is attended to like any other token: keep changes nothing. Hide the scores of keys where
keep is False."""

def _visible(first, last, keep):
    return np.arange(last) <= np.arange(first, last)[:, None]

# %% keep-inverted
# killed_by: padding
"""You hide the real tokens and attend to padding. keep is True for real tokens; other interfaces
name the mask by what it hides."""

_right = _visible

def _visible(first, last, keep):
    return _right(first, last, None if keep is None else ~keep)

# %% padding-on-queries
# killed_by: padding
"""Queries that are padding see nothing, while keys that are padding are attended to. What must not
be seen is a key: apply keep along the last axis of the scores, keep[:, None, None, :]."""

def _visible(first, last, keep):
    visible = np.arange(last) <= np.arange(first, last)[:, None]
    return visible if keep is None else visible & keep[:, None, first:last, None]

# %% padding-on-both
# killed_by: padding
"""Padded keys are hidden, and padded queries give 0 as well, even where they see a real token. The
contract treats such a query like any other. Apply keep to the keys alone."""

def _visible(first, last, keep):
    visible = np.arange(last) <= np.arange(first, last)[:, None]
    if keep is None:
        return visible
    return visible & keep[:, None, None, :last] & keep[:, None, first:last, None]

# %% padding-made-zero
# killed_by: padding
"""Tokens, keys or values of padding are 0 in your code, and still attended to: padding keeps its
share of the weights, and takes it from the real tokens. A key of 0 has a score of 0, and exp(0) is
1. Hide the scores with minus infinity."""

def attention(x, w_qkv, w_out, heads, keep=None, kv_heads=None):
    if keep is not None:
        x = x * keep[..., None]
    q, k, v = _projections(x, w_qkv, heads, heads if kv_heads is None else kv_heads)
    return _merged(_attended(q, k, v, None)) @ w_out

# %% padding-made-zero / keys
def _attended(q, k, v, keep):
    if keep is not None:
        k, v = k * keep[:, None, :, None], v * keep[:, None, :, None]
    return _weights(_scores(q, k), _visible(0, q.shape[2], None)) @ v

# %% padding-made-zero / values
def _attended(q, k, v, keep):
    values = v if keep is None else v * keep[:, None, :, None]
    return _weights(_scores(q, k), _visible(0, q.shape[2], None)) @ values

# %% length-not-position
# killed_by: padding
"""Of a sequence with n real tokens you attend to the first n, whichever they are. That is right
only for padding at the end. Usually lengths are counted from keep; use keep itself."""

def _visible(first, last, keep):
    visible = np.arange(last) <= np.arange(first, last)[:, None]
    if keep is None:
        return visible
    lengths = keep.sum(axis=1)[:, None, None, None]
    return visible & (np.arange(last) < lengths)

# %% empty-rows-nan
# killed_by: [left-padding, nobody]
"""A query that sees no key gets NaN: all its scores are minus infinity, -inf - (-inf) is NaN, and
so is 0 / 0. NaN spreads through every layer that follows, because 0 times NaN is NaN. Give such a
row weights of 0."""

def _weights(scores, visible):
    scores = np.where(visible, scores, -np.inf)
    e = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)

# %% finite-fill
# killed_by: [left-padding, nobody]
"""A query that sees no real token gets a mixture of tokens that it must not see. Usually scores are
hidden with a large negative number, which works while one key is visible; where none is, these
numbers are the scores, and the softmax turns them into weights that add up to 1. Use minus
infinity, and a guard for rows without a key."""

FILL = -1e9

def _attended(q, k, v, keep):
    scores = np.where(_visible(0, q.shape[2], keep), _scores(q, k), FILL)
    return _weights(scores, True) @ v

# %% finite-fill / added
FILL = -1e9

def _attended(q, k, v, keep):
    scores = _scores(q, k) + np.where(_visible(0, q.shape[2], keep), q.dtype.type(0), FILL)
    return _weights(scores, True) @ v

# %% finite-fill / for-padding
FILL = -1e9

def _attended(q, k, v, keep):
    scores = _scores(q, k)
    if keep is not None:
        scores = np.where(keep[:, None, None, :], scores, FILL)
    return _weights(scores, _visible(0, q.shape[2], None)) @ v

# %% finite-fill / in-blocks
FILL = -1e9

def _weights(scores, visible):
    scores = np.where(visible, scores, FILL)
    e = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)

# %% empty-rows-see-themselves
# killed_by: [left-padding, nobody]
"""A query that sees no real token attends to itself. That avoids NaN, but padding still gets
weight. The contract asks for exactly 0 in such a row of y."""

def _attended(q, k, v, keep):
    visible = _visible(0, q.shape[2], keep)
    visible = visible | (~visible.any(axis=-1, keepdims=True) & np.eye(q.shape[2], dtype=bool))
    return _weights(_scores(q, k), visible) @ v

# %% exp-overflows
# killed_by: steep
"""Scores in the thousands give NaN: exp overflows beyond 709 in float64 and 88 in float32, and inf
/ inf is NaN. A softmax does not change when the same number is subtracted from a whole row.
Subtract the maximum of the row first."""

def _weights(scores, visible):
    e = np.where(visible, np.exp(scores), 0)
    total = e.sum(axis=-1, keepdims=True)
    return e / np.where(total == 0, 1, total)

# %% exp-overflows / minimum
def _weights(scores, visible):
    scores = np.where(visible, scores, -np.inf)
    low = scores.min(axis=-1, keepdims=True)
    e = np.exp(scores - np.where(low == -np.inf, 0, low))
    total = e.sum(axis=-1, keepdims=True)
    return e / np.where(total == 0, 1, total)

# %% maximum-over-hidden
# killed_by: steep
"""The maximum that you subtract is that of all keys, hidden ones included. Where a hidden score is
thousands above the visible ones, all visible exponentials round to 0, and nothing is left to divide
by. Hide first, then take the maximum."""

def _attended(q, k, v, keep):
    return _weights(_scores(q, k), _visible(0, q.shape[2], keep)) @ v

def _weights(scores, visible):
    e = np.exp(scores - scores.max(axis=-1, keepdims=True)) * visible
    total = e.sum(axis=-1, keepdims=True)
    return e / np.where(total == 0, 1, total)

# %% maximum-over-hidden / nan
def _attended(q, k, v, keep):
    scores = _scores(q, k)
    visible = np.broadcast_to(_visible(0, q.shape[2], keep), scores.shape)
    e = np.exp(scores - scores.max(axis=-1, keepdims=True)) * visible
    weights = e / e.sum(axis=-1, keepdims=True)
    return np.where(visible.any(axis=-1, keepdims=True), weights, 0) @ v

# %% global-maximum
# killed_by: steep
"""You subtract one maximum, that of all scores, from every row. In a row that lies far below it all
exponentials round to 0, and nothing is left to divide by. Take the maximum of each row, with
axis=-1 and keepdims=True."""

def _attended(q, k, v, keep):
    return _weights(_scores(q, k), _visible(0, q.shape[2], keep)) @ v

def _weights(scores, visible):
    scores = np.where(visible, scores, -np.inf)
    e = np.exp(scores - scores.max())
    total = e.sum(axis=-1, keepdims=True)
    return e / np.where(total == 0, 1, total)

# %% padding-hidden-late
# killed_by: steep-padding
"""Your softmax runs over padding, too. Its weights are made 0 afterwards and the others are divided
by what is left. Where a score of padding is hundreds above the others, these have rounded to 0, and
nothing is left. Hide padding before the softmax."""

def _weights(scores, visible):
    queries, keys = scores.shape[-2:]
    causal = np.arange(keys) <= np.arange(keys - queries, keys)[:, None]
    scores = np.where(causal, scores, -np.inf)
    e = np.exp(scores - scores.max(axis=-1, keepdims=True)) * visible
    total = e.sum(axis=-1, keepdims=True)
    return e / np.where(total == 0, 1, total)

# %% float64-returned
# killed_by: single
"""float32 goes in and float64 comes out. Usually an array was made with np.zeros(shape), which is
float64 unless a dtype is given, or the scores were divided by np.sqrt(dh), a numpy float64, of
which numpy 2 makes float64 too. Divide by math.sqrt(dh), a Python float, or cast at the end."""

def _attended(q, k, v, keep):
    out = np.empty(q.shape)
    out[...] = _weights(_scores(q, k), _visible(0, q.shape[2], keep)) @ v
    return out

# %% float64-returned / scores
def _scores(q, k):
    return q @ k.transpose(0, 1, 3, 2) / np.sqrt([q.shape[-1]])

def _attended(q, k, v, keep):
    return _weights(_scores(q, k), _visible(0, q.shape[2], keep)) @ v

# %% scale-folded-in-place
# killed_by: one-head
"""Your call divides the query columns of the caller's w_qkv by the root of dh, in place. The result
is right once; the next call divides again. Folding the scale into the weights is fine in a copy."""

def attention(x, w_qkv, w_out, heads, keep=None, kv_heads=None):
    width = x.shape[-1] // heads
    w_qkv[:, : heads * width] *= width**-0.5
    q, k, v = _projections(x, w_qkv, heads, heads if kv_heads is None else kv_heads)
    return _merged(_attended(q, k, v, keep)) @ w_out

def _scale(q):
    return 1.0

# %% groups-tiled
# killed_by: groups
"""Query head h uses key head h % kv_heads in your code, or value head h % kv_heads. The query heads
that share a key head stand next to each other: head h uses h // (heads // kv_heads). Usually this
is np.tile, which repeats the row of heads; np.repeat repeats each head."""

def _shared(a, heads):
    return np.tile(a, (1, heads // a.shape[1], 1, 1))

# %% groups-tiled / values
def _projections(x, w_qkv, heads, kv_heads):
    width = x.shape[-1] // heads
    ends = [heads * width, (heads + kv_heads) * width]
    q, k, v = np.split(x @ w_qkv, ends, axis=-1)
    tiled = np.tile(_split(v, kv_heads), (1, heads // kv_heads, 1, 1))
    return _split(q, heads), _shared(_split(k, kv_heads), heads), tiled

# %% divides-by-groups
# killed_by: groups
"""Query head h uses key head h // kv_heads in your code, which divides by the number of groups;
where that is no key head, it raises an IndexError. Divide by the size of a group: h // (heads //
kv_heads)."""

def _shared(a, heads):
    groups = a.shape[1]
    return a if groups == heads else a[:, np.arange(heads) // groups]

# %% kv-per-group
# killed_by: groups
"""Behind the queries you read key and value of the first shared head, then of the second, and so
on. Some checkpoints are laid out so. Here all keys come before all values, whatever kv_heads is."""

def _projections(x, w_qkv, heads, kv_heads):
    width = x.shape[-1] // heads
    q, kv = np.split(x @ w_qkv, [heads * width], axis=-1)
    if kv_heads == heads:
        k, v = np.split(kv, 2, axis=-1)
        return _split(q, heads), _split(k, heads), _split(v, heads)
    pairs = kv.reshape(*kv.shape[:2], kv_heads, 2, width).transpose(3, 0, 2, 1, 4)
    return _split(q, heads), _shared(pairs[0], heads), _shared(pairs[1], heads)

# %% block-is-all
# killed_by: padded-groups
# parameters: {BLOCK: [16, 32, 50, 64, 100, 128]}
"""Your queries attend to keys of their own block of {BLOCK} tokens only. Blocks are there to save
memory; what is seen does not depend on them. Queries first .. last - 1 need all keys 0 .. last - 1.
"""

BLOCK = 32

def _attended(q, k, v, keep):
    tokens = q.shape[2]
    out = np.empty(q.shape, q.dtype)
    for first in range(0, tokens, BLOCK):
        last = min(first + BLOCK, tokens)
        block = slice(first, last)
        visible = _visible(first, last, keep)[..., block]
        out[:, :, block] = _weights(_scores(q[:, :, block], k[:, :, block]), visible) @ v[:, :, block]
    return out

# %% last-block-lost
# killed_by: padded-groups
# parameters: {BLOCK: [16, 32, 50, 64, 100, 128]}
"""Queries after the last full block of {BLOCK} get a result of 0. Usually the number of blocks is T
// {BLOCK}; the last block may be shorter."""

BLOCK = 32

def _attended(q, k, v, keep):
    tokens = q.shape[2]
    size = min(BLOCK, tokens)
    out = np.zeros(q.shape, q.dtype)
    for first in range(0, tokens // size * size, size):
        last = first + size
        block = slice(first, last)
        scores = _scores(q[:, :, block], k[:, :, :last])
        out[:, :, block] = _weights(scores, _visible(first, last, keep)) @ v[:, :, :last]
    return out

# %% old-sum-not-rescaled
# killed_by: padded-groups
# parameters: {BLOCK: [16, 32, 50, 64, 100, 128]}
"""You walk over blocks of {BLOCK} keys with a running maximum, and add sums that were formed with
different maxima. When a larger maximum arrives, multiply what you have, the sum of the exponentials
and the weighted sum of the values, by exp(old - new)."""

BLOCK = 32

def _attended(q, k, v, keep):
    tokens = q.shape[2]
    top = np.full((*q.shape[:3], 1), -np.inf, q.dtype)
    total = np.zeros_like(top)
    out = np.zeros(q.shape, q.dtype)
    visible = np.broadcast_to(_visible(0, tokens, keep), (*q.shape[:3], tokens))
    for first in range(0, tokens, BLOCK):
        block = slice(first, first + BLOCK)
        scores = np.where(visible[..., block], _scores(q, k[:, :, block]), -np.inf)
        top = np.maximum(top, scores.max(axis=-1, keepdims=True))
        e = np.exp(scores - np.where(top == -np.inf, 0, top))
        total += e.sum(axis=-1, keepdims=True)
        out += e @ v[:, :, block]
    return out / np.where(total == 0, 1, total)
