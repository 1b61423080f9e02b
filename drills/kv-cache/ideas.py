# %% positions-restart
# killed_by: [tokens, prefill, chunks]
"""You count positions from 0 in every piece, so new tokens seem to stand at the beginning of the
text, on top of those that the cache holds. The first token of a piece has as position the number of
tokens seen before it."""

def _turned(q, k, past):
    positions = np.arange(q.shape[2])
    return rope(q, positions), rope(k, positions)

# %% queries-restart
# killed_by: [tokens, prefill, chunks]
"""Your queries are counted from 0 in every piece, and your keys are not. The distance of a query
from a key is then wrong by the length of the past. Both are rotated to the same positions, which go
on where the piece before ended."""

def _turned(q, k, past):
    n = q.shape[2]
    return rope(q, np.arange(n)), rope(k, np.arange(past, past + n))

# %% keys-restart
# killed_by: [tokens, prefill, chunks]
"""Your keys are counted from 0 in every piece, and your queries are not. Keys of later pieces then
seem to stand at the beginning of the text. Both are rotated to the same positions, which go on
where the piece before ended."""

def _turned(q, k, past):
    n = q.shape[2]
    return rope(q, np.arange(past, past + n)), rope(k, np.arange(n))

# %% position-after-append
# killed_by: [prefill, chunks]
"""The positions of a piece of n tokens are n too large: they begin at the length of the cache with
the piece in it. Pieces of equal length hide that, one token at a time for instance, since every
position then moves by the same amount and rope sees distances only. Read the length before the
piece is stored."""

def _turned(q, k, past):
    n = q.shape[2]
    positions = np.arange(past + n, past + 2 * n)
    return rope(q, positions), rope(k, positions)

# %% one-position-per-piece
# killed_by: whole
"""All tokens of a piece get one position. For pieces of a single token that is right, which is why
decoding alone looks right. Positions in a piece go up by 1 per token."""

def _turned(q, k, past):
    positions = np.full(q.shape[2], past)
    return rope(q, positions), rope(k, positions)

# %% one-position-per-piece / last
def _turned(q, k, past):
    n = q.shape[2]
    positions = np.full(n, past + n - 1)
    return rope(q, positions), rope(k, positions)

# %% rotated-again
# killed_by: [tokens, prefill, chunks]
"""Keys of earlier pieces are rotated again at every step, on top of the rotations that they have
had. The angle of a key depends on its own position, which never changes: rotate each key once, when
it comes in."""

right_stored = _stored

def _turned(q, k, past):
    return rope(q, np.arange(past, past + q.shape[2])), k

def _stored(cache, k, v):
    keys, values = right_stored(cache, k, v)
    keys[...] = rope(keys, np.arange(keys.shape[2]))
    return keys, values

# %% cached-before-rotation
# killed_by: [tokens, prefill, chunks]
"""The keys of earlier pieces are not rotated at all: they count as if all of them stood at position
0. Usually keys are stored before they are rotated, and not rotated when they are read. Store what
you attend to."""

right_stored = _stored

def _turned(q, k, past):
    return rope(q, np.arange(past, past + q.shape[2])), k

def _stored(cache, k, v):
    past = cache.count
    keys, values = right_stored(cache, k, v)
    new = rope(k, np.arange(past, past + k.shape[2]))
    return np.concatenate([keys[:, :, :past], new], axis=2), values

# %% values-rotated
# killed_by: whole
"""You rotate the values too. A position is to enter the scores, through queries and keys; a rotated
value would bring its position into y, and averages of values with different rotations mean nothing.
"""

right_stored = _stored

def _stored(cache, k, v):
    past = cache.count
    return right_stored(cache, k, rope(v, np.arange(past, past + v.shape[2])))

# %% slots-restart
# killed_by: [tokens, prefill, chunks]
"""Every piece is written to the front of the buffer, over the oldest tokens, and the slots behind
stay zero. A key of zeros has score 0 and takes its share of the weight. Write a piece behind those
that are there."""

def _stored(cache, k, v):
    n = k.shape[2]
    cache.keys[:, :, :n] = k
    cache.values[:, :, :n] = v
    cache.count += n
    return cache.keys[:, :, : cache.count], cache.values[:, :, : cache.count]

# %% mask-top-left
# killed_by: [tokens, prefill, chunks]
"""The triangle of your mask begins at the top left: the first token of a piece sees key 0 alone,
the second one keys 0 and 1. The new queries are the last rows of the whole triangle, so each sees
all the past, and its own piece up to itself."""

def _visible(past, n):
    return np.tril(np.ones((n, past + n), bool))

# %% no-mask-after-prefill
# killed_by: chunks
"""You hide nothing once there is something in the cache. For a single new token that is right. In a
piece of several, each then sees those that follow it in the same piece; only the last is right."""

right_visible = _visible

def _visible(past, n):
    return np.ones((n, past + n), bool) if past else right_visible(past, n)

# %% last-piece-only
# killed_by: [tokens, prefill, chunks]
"""Your tokens see their own piece only. The keys and values of earlier pieces are what the cache is
for: attend to all of them as well."""

right_visible = _visible

def _visible(past, n):
    return right_visible(past, n) & (np.arange(past + n) >= past)

# %% empty-slots-seen
# killed_by: [tokens, room]
"""A piece of one token attends to the whole buffer, with no mask. Slots that hold nothing yet are
keys of zeros with score 0, and take their share of the weight; only a full buffer is right. Cut the
buffer off behind the last token, or hide what lies behind it."""

right_stored = _stored
right_visible = _visible

def _stored(cache, k, v):
    keys, values = right_stored(cache, k, v)
    return (cache.keys, cache.values) if k.shape[2] == 1 else (keys, values)

def _visible(past, n):
    return True if n == 1 else right_visible(past, n)

# %% scale-missing
# killed_by: whole
"""Scores are the plain dot products of queries and keys. They grow with dh, and the softmax puts
nearly all weight on one token. Divide by the root of dh."""

_scaled = _attended

def _attended(q, keys, values, visible):
    return _scaled(q * q.dtype.type(q.shape[3] ** 0.5), keys, values, visible)

# %% scaled-by-another-size
# killed_by: whole
"""Scores are divided, but not by the root of dh: usually it is dh itself, or the root of D, the
width of all heads together. A dot product of dh terms has a standard deviation of the root of dh.
"""

_rooted = _attended

def _attended(q, keys, values, visible):
    return _rooted(q / q.dtype.type(q.shape[3] ** 0.5), keys, values, visible)

# %% scaled-by-another-size / scale-by-the-width
_by_head = _attended

def _attended(q, keys, values, visible):
    return _by_head(q / q.dtype.type(q.shape[1] ** 0.5), keys, values, visible)

# %% heads-merged-by-reshape
# killed_by: [whole, prefill]
"""(B, heads, n, dh) is reshaped to (B, n, D) without moving the axis of the heads, so a row mixes
the tokens of one head. For a piece of one token nothing shows. Transpose to (B, n, heads, dh)
first."""

def _merged(a):
    batch, heads, n, dh = a.shape
    return a.reshape(batch, n, heads * dh)

# %% mask-after-softmax
# killed_by: [whole, prefill]
"""Hidden tokens are set to 0 after the softmax, in which they had a share, so the weights of a row
add up to less than 1. Set their scores to minus infinity before it."""

def _attended(q, keys, values, visible):
    scores = q @ keys.swapaxes(2, 3) * q.dtype.type(q.shape[3] ** -0.5)
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights /= weights.sum(axis=-1, keepdims=True)
    return np.where(visible, weights, 0) @ values

# %% does-not-see-itself
# killed_by: [tokens, prefill, chunks]
"""A token with a past does not see itself: the comparison is < where it is <=. Its own key is the
nearest of all."""

def _visible(past, n):
    return np.arange(past + n) < np.maximum(past + np.arange(n)[:, None], 1)

# %% piece-counted-as-one
# killed_by: [prefill, chunks]
"""The position goes on by 1 per call, not by the number of tokens in the piece. One token at a time
that is the same; after a prompt of four the next token stands at position 1."""

_at = _turned
_kept = _stored

def _stored(cache, k, v):
    cache.calls = getattr(cache, "calls", 0) + 1
    return _kept(cache, k, v)

def extend(cache, x, w_qkv, w_out):
    past, n = cache.count, x.shape[1]
    q, k, v = (_split(a, cache.keys.shape[1]) for a in np.split(x @ w_qkv, 3, axis=-1))
    q, k = _at(q, k, getattr(cache, "calls", 0))
    keys, values = _stored(cache, k, v)
    return _merged(_attended(q, keys, values, _visible(past, n))) @ w_out, cache

def reorder(cache, index):
    other = Cache(cache.keys[index], cache.values[index], cache.count)
    other.calls = getattr(cache, "calls", 0)
    return other

# %% output-weights-missing
# killed_by: whole
"""w_out is not applied: y holds the averaged values of all heads, side by side. Multiply the merged
row by w_out."""

_whole = extend

def extend(cache, x, w_qkv, w_out):
    return _whole(cache, x, w_qkv, np.eye(len(w_out), dtype=x.dtype))

# %% neighbors-are-pairs
# killed_by: whole
"""You rotate elements 2 i and 2 i + 1 as a pair. The rope that is given pairs i with i + dh // 2,
and weights that were trained with one give wrong scores with the other. Use the one that is given.
"""

def rope(x, positions):
    half = x.shape[-1] // 2
    angles = np.asarray(positions)[:, None] * 10000.0 ** (-np.arange(half) / half)
    cos, sin = np.cos(angles).astype(x.dtype), np.sin(angles).astype(x.dtype)
    a, b = x[..., ::2], x[..., 1::2]
    return np.stack([a * cos - b * sin, a * sin + b * cos], axis=-1).reshape(x.shape)

# %% query-ahead-of-its-key
# killed_by: whole
"""Queries stand one position further than the keys of the same tokens, so that every distance is 1
too large. A token's query and key are rotated to the same position."""

def _turned(q, k, past):
    positions = np.arange(past, past + q.shape[2])
    return rope(q, positions + 1), rope(k, positions)

# %% reorder-in-place
# killed_by: [reorder, fork]
"""Your reorder moves the rows within the buffers of the old cache. Each row is right, but the old
cache is gone, and an index of another length has no place there: it raises a ValueError, or leaves
too many rows. Give the new cache arrays of its own."""

def reorder(cache, index):
    cache.keys[:] = cache.keys[index]
    cache.values[:] = cache.values[index]
    return cache

# %% reorder-in-place / of-growing-arrays
_of_any_size = extend

def reorder(cache, index):
    cache.keys[:] = cache.keys[index]
    cache.values[:] = cache.values[index]
    return cache

def extend(cache, x, w_qkv, w_out):
    if len(x) != len(cache.keys):
        raise ValueError("a piece of another number of sequences")
    return _of_any_size(cache, x, w_qkv, w_out)

# %% reorder-row-by-row
# killed_by: reorder
"""Your reorder copies rows one after another within one buffer, so that a row may be overwritten
before it is read: for the order 1, 0 both become row 1. An index of another length does not fit
either, and raises an IndexError where it is longer. Index with the whole array, which reads
everything first."""

def reorder(cache, index):
    for b, source in enumerate(index):
        cache.keys[b] = cache.keys[source]
        cache.values[b] = cache.values[source]
    return cache

# %% reorder-row-by-row / in-a-copy
def reorder(cache, index):
    keys, values = cache.keys.copy(), cache.values.copy()
    for b, source in enumerate(index):
        keys[b] = keys[source]
        values[b] = values[source]
    return Cache(keys, values, cache.count)

# %% reorder-keys-only
# killed_by: [reorder, fork]
"""You reorder the keys and leave the values where they were: each candidate attends to its own past
and reads another one's. (Where the number of rows changes they no longer fit, and extend may raise
a ValueError.) Keys and values move together."""

def reorder(cache, index):
    return Cache(cache.keys[index], cache.values.copy(), cache.count)

# %% reorder-inverse
# killed_by: [reorder, fork]
"""Your reorder sends row b to place index[b]; row b of the result is to come from row index[b]. The
two agree for a swap, and differ for a cycle or a repeated row. Usually this is an argsort, or an
assignment to buffers[index]; an index of another length may then raise, or leave the wrong rows or
too many."""

def reorder(cache, index):
    back = np.argsort(index)
    return Cache(cache.keys[back], cache.values[back], cache.count)

# %% reorder-inverse / scattered
def reorder(cache, index):
    keys, values = np.zeros_like(cache.keys), np.zeros_like(cache.values)
    keys[index] = cache.keys[: len(index)]
    values[index] = cache.values[: len(index)]
    return Cache(keys, values, cache.count)

# %% reorder-shares-the-unmoved
# killed_by: fork
"""Where the order does not change, the old and the new cache are the same object, so tokens that
one gets appear in the other. A cache that goes on by itself needs memory of its own, whatever the
order is."""

right_reorder = reorder

def reorder(cache, index):
    same = len(index) == len(cache.keys) and (index == np.arange(len(index))).all()
    return cache if same else right_reorder(cache, index)

# %% reorder-forgets-the-length
# killed_by: [reorder, fork]
"""After your reorder the cache counts from 0: rows are right, but the next token gets position 0,
replaces the first, and sees itself alone. The number of tokens belongs to the cache as the rows do.
"""

def reorder(cache, index):
    return Cache(cache.keys[index], cache.values[index], 0)

# %% float64-returned
# killed_by: single
"""With float32 arrays y comes back as float64. One float64 array on the way is enough: a mask of 0
and -inf or buffers that were made without a dtype, with numpy 2 even the number np.sqrt(dh). Use
the dtype of x throughout."""

def _attended(q, keys, values, visible):
    scores = q @ keys.swapaxes(2, 3) * q.dtype.type(q.shape[3] ** -0.5)
    mask = np.zeros(visible.shape)
    mask[~visible] = -np.inf
    scores = scores + mask
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return weights / weights.sum(axis=-1, keepdims=True) @ values

# %% float64-returned / buffers
def new_cache(batch, heads, dh, capacity, dtype):
    shape = (batch, heads, capacity, dh)
    return Cache(np.zeros(shape), np.zeros(shape), 0)

# %% reordered-in-float64
# killed_by: single-beams
"""Your reordered cache is float64 whatever the old one was, and so is what is computed with it.
Usually np.zeros made its buffers, which is float64 unless a dtype is given: keys[index] keeps the
dtype."""

def reorder(cache, index):
    keys, values = (a[index].astype(np.float64) for a in (cache.keys, cache.values))
    return Cache(keys, values, cache.count)

# %% exponentials-unshifted
# killed_by: steep
"""You take exponentials of the scores as they are. Above about 709 they overflow (88 in float32),
and far below 0 all of a row rounds to 0; either ends as NaN. A softmax does not change when a row
is shifted: subtract the maximum of the row first."""

def _attended(q, keys, values, visible):
    scores = q @ keys.swapaxes(2, 3) * q.dtype.type(q.shape[3] ** -0.5)
    weights = np.where(visible, np.exp(scores), 0)
    return weights / weights.sum(axis=-1, keepdims=True) @ values

# %% one-maximum-for-all
# killed_by: steep
"""One maximum is subtracted from all scores, of every query, head and sequence. A row that lies
some 745 below it has nothing but exponentials of 0, and 0 / 0 is NaN. Each row needs its own
maximum."""

def _attended(q, keys, values, visible):
    scores = q @ keys.swapaxes(2, 3) * q.dtype.type(q.shape[3] ** -0.5)
    scores = np.where(visible, scores, -np.inf)
    weights = np.exp(scores - scores.max())
    return weights / weights.sum(axis=-1, keepdims=True) @ values

# %% cache-in-float64
# killed_by: state
"""Keys and values are kept in float64 for float32 inputs, twice the bytes that they need. Usually
the buffers were made without a dtype."""

right_extend = extend

def new_cache(batch, heads, dh, capacity, dtype):
    shape = (batch, heads, capacity, dh)
    return Cache(np.zeros(shape), np.zeros(shape), 0)

def extend(cache, x, w_qkv, w_out):
    y, cache = right_extend(cache, x, w_qkv, w_out)
    return y.astype(x.dtype), cache

# %% mask-kept
# killed_by: state
"""The cache holds a mask of capacity by capacity elements, which grows with the square of the
capacity, where keys and values grow with the capacity. A row of it is a comparison of positions:
make it when it is needed."""

right_new_cache = new_cache

def new_cache(batch, heads, dh, capacity, dtype):
    cache = right_new_cache(batch, heads, dh, capacity, dtype)
    cache.mask = np.tril(np.ones((capacity, capacity), bool))
    return cache

right_reorder = reorder

def reorder(cache, index):
    other = right_reorder(cache, index)
    other.mask = cache.mask
    return other

# %% queries-kept
# killed_by: state
"""The cache holds the queries as well, half as much again. A query is used in the step that it
comes in, and never again."""

right_new_cache = new_cache
right_reorder = reorder
right_stored = _stored
right_turned = _turned

def new_cache(batch, heads, dh, capacity, dtype):
    cache = right_new_cache(batch, heads, dh, capacity, dtype)
    cache.queries = np.zeros_like(cache.keys)
    return cache

def extend(cache, x, w_qkv, w_out):
    past, n = cache.count, x.shape[1]
    q, k, v = (_split(a, cache.keys.shape[1]) for a in np.split(x @ w_qkv, 3, axis=-1))
    q, k = _turned(q, k, past)
    cache.queries[:, :, past : past + n] = q
    keys, values = _stored(cache, k, v)
    return _merged(_attended(q, keys, values, _visible(past, n))) @ w_out, cache

def reorder(cache, index):
    other = right_reorder(cache, index)
    other.queries = cache.queries[index]
    return other

# %% output-buffer-reused
# killed_by: fork
"""y is a buffer that the next call of the same shape writes to as well, so the numbers that the
caller holds change. Return a new array."""

right_extend = extend

def extend(cache, x, w_qkv, w_out):
    y, cache = right_extend(cache, x, w_qkv, w_out)
    buffer = getattr(cache, "buffer", None)
    if buffer is None or buffer.shape != y.shape:
        cache.buffer = buffer = np.empty_like(y)
    buffer[...] = y
    return buffer, cache

# %% blocks-averaged
# killed_by: long-step
"""With a long past, a step attends to it block by block to save memory, takes a softmax within each
block, and averages the results. A block of far tokens then counts as much as one of near tokens. All
scores of a query share one denominator: weigh each block with the sum of its exponentials."""

right_attended = _attended

def _attended(q, keys, values, visible):
    if q.shape[2] > 1 or keys.shape[2] <= 1024:
        return right_attended(q, keys, values, visible)
    blocks = [slice(begin, begin + 1024) for begin in range(0, keys.shape[2], 1024)]
    own = [right_attended(q, keys[:, :, b], values[:, :, b], visible[:, b]) for b in blocks]
    return np.mean(own, axis=0)
