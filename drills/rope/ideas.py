# %% mixed-pairing
# killed_by: [lengths, distance, values]
"""The two elements of a pair rotate by different angles: element i is paired with element i + d/2,
but elements 0 and 1 get the first angle, elements 2 and 3 the second, and so on, as if neighbors
were pairs. That is no rotation. Lay the table out as the features are paired: all angles, and then
all of them again. Usually it is np.repeat, of one convention, with rotate_half, of the other."""

def _turned(x, cos, sin):
    half = cos.shape[-1]
    a, b, rest = _parts(x, half)
    cos, sin = np.repeat(cos, 2, axis=-1), np.repeat(sin, 2, axis=-1)
    first = a * cos[..., :half] - b * sin[..., :half]
    second = b * cos[..., half:] + a * sin[..., half:]
    return np.concatenate([first, second, rest], axis=-1)

# %% mixed-pairing-of-neighbors
# killed_by: [lengths, distance, values]
"""The two elements of a pair rotate by different angles: element 2 i is paired with element 2 i +
1, but elements i and i + d/2 get the same angle, as if they were the pair. That is no rotation.
These angles are right; pair the features as they do."""

def _turned(x, cos, sin):
    turning = x[..., : 2 * cos.shape[-1]]
    partner = np.stack([-turning[..., 1::2], turning[..., ::2]], axis=-1).reshape(turning.shape)
    cos, sin = np.concatenate([cos, cos], axis=-1), np.concatenate([sin, sin], axis=-1)
    return np.concatenate([turning * cos + partner * sin, x[..., turning.shape[-1] :]], axis=-1)

# %% interleaved
# killed_by: values
"""Your pairs are neighbors, elements 2 i and 2 i + 1, as the RoFormer paper writes them. Here
elements i and i + d/2 are a pair. Lengths and distances cannot tell the two apart, which differ by
a fixed order of the features; but weights that were trained with one give wrong scores with the
other."""

def _turned(x, cos, sin):
    out = x.copy()
    turning = 2 * cos.shape[-1]
    a, b = x[..., :turning:2], x[..., 1:turning:2]
    out[..., :turning:2] = a * cos - b * sin
    out[..., 1:turning:2] = b * cos + a * sin
    return out

# %% rotates-values
# killed_by: v-untouched
"""The values rotate too. Positions are to enter the scores, through queries and keys; what a token
contributes would depend on where it stands, and nothing rotates it back. Return v as it is."""

def rotate(q, k, v, positions, base=10000.0, width=None):
    width = q.shape[-1] if width is None else width
    cos, sin = _table(positions, _frequencies(width, base), q.dtype)
    return _turned(q, cos, sin), _turned(k, cos, sin), _turned(v, cos, sin)

# %% queries-only
# killed_by: [start, values]
"""The queries rotate and the keys stay. A score then depends on the position of the query, and not
on its distance from the key. Rotate both."""

_both = rotate

def rotate(q, k, v, positions, base=10000.0, width=None):
    return _both(q, k, v, positions, base, width)[0], k.copy(), v

# %% exponent-per-pair
# killed_by: values
"""Pair i rotates by base ** (-i / d) per position; the exponent is -2 i / d. Your frequencies end
near 1 over the root of base in place of 1 over base, so the slow pairs are missing."""

def _frequencies(width, base):
    return base ** (-np.arange(width // 2) / width)

# %% exponent-doubled
# killed_by: values
"""Pair i rotates by base ** (-4 i / d) per position; the exponent is -2 i / d. Your frequencies
fall twice as fast, and end near 1 over the square of base. Usually 2 i is divided by the number of
pairs; divide it by d."""

def _frequencies(width, base):
    return base ** (-2 * np.arange(width // 2) / (width // 2))

# %% exponent-from-one
# killed_by: [start, values]
"""Pair i rotates by base ** (-2 (i + 1) / d) per position, as if pairs were counted from 1. The
first pair has the exponent 0 and rotates by one radian per position."""

def _frequencies(width, base):
    return base ** (-2 * np.arange(1, width // 2 + 1) / width)

# %% exponent-to-the-end
# killed_by: values
"""Your frequencies go from 1 to 1 / base, both included, so that the exponent of pair i is -i /
(d/2 - 1). It is -i / (d/2), the same as -2 i / d: the last pair stops one step before 1 / base.
Usually it is a linspace with its end."""

def _frequencies(width, base):
    return base ** -np.linspace(0, 1, width // 2)

# %% base-inverted
# killed_by: values
"""Pair i rotates by base ** (2 i / d) per position: the sign of the exponent is missing, so that
later pairs rotate faster and faster. It is -2 i / d; the first pair, with one radian per position,
is the fastest."""

def _frequencies(width, base):
    return base ** (2 * np.arange(width // 2) / width)

# %% angle-sign
# killed_by: [start, values]
"""Everything rotates the other way: (a, b) becomes (a cos + b sin, b cos - a sin). Scores then take
a distance of +5 for one of -5, and the weights were trained with the other. The minus belongs to b
sin."""

_forward = _turned

def _turned(x, cos, sin):
    return _forward(x, cos, -sin)

# %% position-from-one
# killed_by: start
"""Every position is 1 too large: the first token rotates as well. Scores within one call are right,
since distances are; keys that another program has cached, counted from 0, would seem one token
nearer or further."""

_from_zero = _table

def _table(positions, frequencies, dtype):
    return _from_zero(positions + 1, frequencies, dtype)

# %% keys-only
# killed_by: [start, values]
"""The keys rotate and the queries stay. A score then depends on the position of the key, and not on
its distance from the query. Rotate both."""

_both = rotate

def rotate(q, k, v, positions, base=10000.0, width=None):
    return q.copy(), _both(q, k, v, positions, base, width)[1], v

# %% cosine-for-sine
# killed_by: [start, values]
"""Cosine and sine are in each other's place, so that a token at position 0 is rotated by a right
angle. It is a cos - b sin in the first half, and b cos + a sin in the second."""

_right = _table

def _table(positions, frequencies, dtype):
    return _right(positions, frequencies, dtype)[::-1]

# %% minus-in-both
# killed_by: [start, values]
"""(a, b) becomes (a cos - b sin, b cos - a sin): both sines have a minus. That is no rotation, and
lengths change. The minus belongs to b sin alone."""

def _turned(x, cos, sin):
    a, b, rest = _parts(x, cos.shape[-1])
    return np.concatenate([a * cos - b * sin, b * cos - a * sin, rest], axis=-1)

# %% one-frequency
# killed_by: values
"""All pairs rotate at one speed, a radian per position. The second pair is slower than the first,
and the last about base times as slow: pair i has base ** (-2 i / d)."""

def _frequencies(width, base):
    return np.ones(width // 2)

# %% slowest-first
# killed_by: values
"""Your frequencies are in reverse order: the first pair is the slowest. Pair 0 rotates by one
radian per position, and later ones are slower and slower."""

_falling = _frequencies

def _frequencies(width, base):
    return _falling(width, base)[::-1]

# %% angles-in-degrees
# killed_by: [start, values]
"""Angles are converted from degrees, and they are radians already: the first pair rotates by one
radian per position, not by one degree."""

_radians = _frequencies

def _frequencies(width, base):
    return np.deg2rad(_radians(width, base))

# %% head-as-position
# killed_by: [start, values]
"""All tokens of a head rotate alike, by the number of the head: the angles lie along the wrong
axis. In (B, H, n, d) positions belong to axis 2, so they need the shape (n, 1)."""

_placed = rotate

def rotate(q, k, v, positions, base=10000.0, width=None):
    numbers = np.arange(q.shape[1])
    q, k, _ = _placed(q.swapaxes(1, 2), k.swapaxes(1, 2), v, numbers, base, width)
    return q.swapaxes(1, 2), k.swapaxes(1, 2), v

# %% half-unsigned
# killed_by: [start, values]
"""(a, b) becomes (a cos + b sin, b cos + a sin): the halves are swapped without a minus. That is no
rotation, and lengths change. It is a cos - b sin in the first half."""

def _turned(x, cos, sin):
    a, b, rest = _parts(x, cos.shape[-1])
    return np.concatenate([a * cos + b * sin, b * cos + a * sin, rest], axis=-1)

# %% half-overwritten
# killed_by: [start, values]
"""The second half is computed from the first as it is after the rotation: b cos + a' sin, where a'
is the new a. Usually a is a view into the array that the result is written to. Compute both halves
before you write either, or keep a copy of a."""

def _turned(x, cos, sin):
    out = x.copy()
    a, b, _ = _parts(out, cos.shape[-1])
    a[...] = a * cos - b * sin
    b[...] = b * cos + a * sin
    return out

# %% positions-ignored
# killed_by: offset
"""You number the tokens of a call 0, 1, 2 and so on, and do not look at their positions. For a
whole prompt that is right; for a text that goes on, or one that is packed with others, it is not.
"""

_placed = _table

def _table(positions, frequencies, dtype):
    return _placed(np.arange(positions.shape[-1]), frequencies, dtype)

# %% positions-from-the-first
# killed_by: offset
"""Positions are counted from that of the first token of each row. Scores within the call are right,
since distances are, but keys that an earlier call has put into a cache stand elsewhere. Use
positions as they are."""

_placed = _table

def _table(positions, frequencies, dtype):
    return _placed(positions - positions[..., :1], frequencies, dtype)

# %% one-row-for-all
# killed_by: per-row
"""All sequences get the positions of one row. With positions of (B, n) every sequence has its own:
keep the axis B, and put one of length 1 behind it for the heads."""

_placed = _table

def _table(positions, frequencies, dtype):
    return _placed(positions.reshape(-1, positions.shape[-1])[0], frequencies, dtype)

# %% one-row-for-all / last-row-for-all
_placed = _table

def _table(positions, frequencies, dtype):
    return _placed(positions.reshape(-1, positions.shape[-1])[-1], frequencies, dtype)

# %% positions-follow-the-first
# killed_by: offset
"""You read the position of the first token of a call, and take the others to follow it. Packed
sequences and a tree of drafted tokens have gaps and repeats. Use every position as it is given."""

_all_read = _table

def _table(positions, frequencies, dtype):
    up = np.arange(positions.shape[-1])
    return _all_read(positions[..., :1] + up, frequencies, dtype)

# %% low-precision-angles
# killed_by: far
"""Frequencies or angles are rounded to the dtype of q before cosine and sine are taken. Multiply in
float64, and round cosine and sine. In float32, in a head of 64, angles are off by 0.01 to 0.02
radians at worst at position 1,000,003, and by less than 0.0001 at 4,097: short texts do not show
it."""

def _table(positions, frequencies, dtype):
    angles = positions[..., None, :, None].astype(dtype) * frequencies.astype(dtype)
    return np.cos(angles), np.sin(angles)

# %% low-precision-angles / rounded
def _table(positions, frequencies, dtype):
    angles = (positions[..., None, :, None] * frequencies).astype(dtype)
    return np.cos(angles), np.sin(angles)

# %% low-precision-angles / low-precision-frequencies
_table_of = _table

def _table(positions, frequencies, dtype):
    return _table_of(positions, frequencies.astype(dtype).astype(np.float64), dtype)

# %% positions-wrapped
# killed_by: far
"""Positions begin again after 4,096, the length of a table: token 4,097 stands where token 1 does.
Usually an index is taken modulo the table, or clipped by it. Compute the angles of the positions
that are asked for."""

_endless = _table

def _table(positions, frequencies, dtype):
    return _endless(positions % 4096, frequencies, dtype)

# %% positions-in-float16
# killed_by: far
"""Positions pass through float16, which has 11 significant bits: 2,049 becomes 2,048, and what lies
beyond 65,519 becomes infinite, so that results are NaN. Usually positions are cast to the dtype of
a model. Leave them integers until they meet float64 frequencies."""

_placed = _table

def _table(positions, frequencies, dtype):
    with np.errstate(all="ignore"):
        return _placed(positions.astype(np.float16).astype(np.float64), frequencies, dtype)

# %% float64-returned
# killed_by: single
"""With float32 arrays, q and k come back as float64. Usually cosine or sine stayed float64, as the
angles should, and what meets them becomes float64 too. Round both with .astype(q.dtype)."""

def _table(positions, frequencies, dtype):
    angles = positions[..., None, :, None] * frequencies
    return np.cos(angles), np.sin(angles)

# %% float64-returned / cosine
def _table(positions, frequencies, dtype):
    angles = positions[..., None, :, None] * frequencies
    return np.cos(angles), np.sin(angles).astype(dtype)

# %% float64-returned / sine
def _table(positions, frequencies, dtype):
    angles = positions[..., None, :, None] * frequencies
    return np.cos(angles).astype(dtype), np.sin(angles)

# %% float64-returned / float64-keys
_both = rotate

def rotate(q, k, v, positions, base=10000.0, width=None):
    q, k, v = _both(q, k, v, positions, base, width)
    return q, k.astype(np.float64), v

# %% base-ignored
# killed_by: base
"""The base is 10,000, whatever is given. A checkpoint that was trained with 500,000 has slower
pairs, all but the first. Use base."""

_based = _frequencies

def _frequencies(width, base):
    return _based(width, 10000.0)

# %% width-ignored
# killed_by: partial
"""The whole head rotates, whatever the width. Where width is smaller than d, only the first width
elements are pairs, and the others stay as they are."""

_partly = rotate

def rotate(q, k, v, positions, base=10000.0, width=None):
    return _partly(q, k, v, positions, base)

# %% partial-full-exponent
# killed_by: partial
"""With a width, the right elements rotate at the wrong speed: the exponent is still -2 i / d. It is
-2 i / width, so your pairs rotate too fast, all but the first."""

def rotate(q, k, v, positions, base=10000.0, width=None):
    d = q.shape[-1]
    frequencies = _frequencies(d, base)[: (d if width is None else width) // 2]
    cos, sin = _table(positions, frequencies, q.dtype)
    return _turned(q, cos, sin), _turned(k, cos, sin), v

# %% partial-pairs-of-the-head
# killed_by: partial
"""With a width, elements i and i + d/2 are still your pairs. The first width elements are a head of
their own: element i and element i + width/2."""

def _turned(x, cos, sin):
    out, pairs, half = x.copy(), cos.shape[-1], x.shape[-1] // 2
    a, b = x[..., :pairs], x[..., half : half + pairs]
    out[..., :pairs] = a * cos - b * sin
    out[..., half : half + pairs] = b * cos + a * sin
    return out

# %% partial-at-the-end
# killed_by: partial
"""With a width, the last width elements of a head rotate. It is the first ones that do; the others
come behind them, and stay as they are."""

_first = _turned

def _turned(x, cos, sin):
    rest = x.shape[-1] - 2 * cos.shape[-1]
    return np.concatenate([x[..., :rest], _first(x[..., rest:], cos, sin)], axis=-1)

# %% rest-lost
# killed_by: partial
"""With a width, the elements from width on do not come back as they were: they are dropped, or 0.
Append them to what is rotated."""

def _turned(x, cos, sin):
    a, b, _ = _parts(x, cos.shape[-1])
    return np.concatenate([a * cos - b * sin, b * cos + a * sin], axis=-1)

# %% rest-lost / rest-of-zeros
def _turned(x, cos, sin):
    a, b, rest = _parts(x, cos.shape[-1])
    return np.concatenate([a * cos - b * sin, b * cos + a * sin, 0 * rest], axis=-1)

# %% result-buffer-reused
# killed_by: next-call
"""The results are buffers that the next call of the same shape writes to as well, so that the keys
a caller keeps become those of later tokens. Return new arrays."""

_fresh = rotate
_BUFFERS = {}

def rotate(q, k, v, positions, base=10000.0, width=None):
    new_q, new_k, _ = _fresh(q, k, v, positions, base, width)
    for name, new in (("q", new_q), ("k", new_k)):
        _BUFFERS.setdefault((name, new.shape, new.dtype), new.copy())[...] = new
    return *(_BUFFERS[name, new.shape, new.dtype] for name, new in (("q", new_q), ("k", new_k))), v

# %% rotates-in-place
# killed_by: [start, values]
"""The caller's own q and k are rotated. Whoever calls with them again gets them rotated twice.
Write to new arrays."""

def _turned(x, cos, sin):
    a, b, _ = _parts(x, cos.shape[-1])
    a[...], b[...] = a * cos - b * sin, b * cos + a * sin
    return x

# %% frequencies-in-float32
# killed_by: far
"""Your frequencies are float32, whatever the arrays are. Compute them in float64; there are only
d/2. The error is around 1e-8 radians at small positions and grows with them, to 0.01 at 1,000,003
in a head of 64."""

_exactly = _frequencies

def _frequencies(width, base):
    return _exactly(width, base).astype(np.float32).astype(np.float64)

# %% convert-nothing
# killed_by: [convert, biases]
"""The weights stay in their order. rotate pairs elements i and i + d/2, the checkpoint elements 2 i
and 2 i + 1, so features rotate together that were never a pair. Put the columns of each head into
the order that rotate wants."""

def convert(w, heads):
    return w.copy()

# %% convert-inverse
# killed_by: [convert, biases]
"""The permutation goes backwards: your columns 2 i and 2 i + 1 are the old i and i + d/2. It is the
new column i that has to be the old 2 i, and the new i + d/2 the old 2 i + 1. With four features per
head the two are the same."""

def convert(w, heads):
    halves = w.reshape(*w.shape[:-1], heads, 2, -1)
    return np.stack([halves[..., 0, :], halves[..., 1, :]], axis=-1).reshape(w.shape)

# %% convert-across-heads
# killed_by: [convert, biases]
"""All even columns come first, and then all odd ones, across the heads, so features move from one
head to another. Do so within each head. With a single head there is no difference."""

def convert(w, heads):
    return np.concatenate([w[..., ::2], w[..., 1::2]], axis=-1)

# %% convert-odd-first
# killed_by: [convert, biases]
"""In each head the odd columns come before the even ones, so the two members of a pair are
exchanged, which is to rotate the other way. The even ones come first."""

def convert(w, heads):
    pairs = w.reshape(*w.shape[:-1], heads, -1, 2)
    return np.concatenate([pairs[..., 1], pairs[..., 0]], axis=-1).reshape(w.shape)

# %% convert-rows
# killed_by: convert
"""You permute the rows of w, and its columns stay. Usually this is the code for weights of (heads *
d, D), as torch keeps them. Here features are the columns, in x @ w. Where D does not fit the heads
it raises a ValueError."""

_columns = convert

def convert(w, heads):
    return _columns(w.T, heads).T.copy()

# %% convert-forgets-biases
# killed_by: biases
"""Matrices are converted, and biases come back as they are. A bias is added to the features of x @
w, so its elements move as the columns do."""

_matrices = convert

def convert(w, heads):
    return _matrices(w, heads) if w.ndim == 2 else w.copy()

# %% convert-float64
# killed_by: convert
"""Weights in float32 come back as float64, so that the converted checkpoint takes twice the memory.
Keep the dtype of w."""

_kept = convert

def convert(w, heads):
    return _kept(w, heads).astype(np.float64)

# %% convert-in-place
# killed_by: [convert, biases]
"""The caller's own weights are permuted. A second conversion would permute them again, and the
checkpoint is no longer what it was. Return a new array."""

_new = convert

def convert(w, heads):
    w[...] = _new(w, heads)
    return w

# %% read-by-one-rule-written-by-another
# killed_by: [start, values]
"""You take the pairs by one convention and put them back by the other: halves are turned and written
as neighbors, or neighbors are turned and written as halves. The features of a head change places,
even at position 0, where nothing turns. Write a pair where it was read: elements i and i + d/2."""

def _turned(x, cos, sin):
    a, b, rest = _parts(x, cos.shape[-1])
    pairs = np.stack([a * cos - b * sin, b * cos + a * sin], axis=-1)
    return np.concatenate([pairs.reshape(*a.shape[:-1], -1), rest], axis=-1)

# %% read-by-one-rule-written-by-another / neighbors-read
def _turned(x, cos, sin):
    turning = 2 * cos.shape[-1]
    a, b = x[..., :turning:2], x[..., 1:turning:2]
    return np.concatenate([a * cos - b * sin, b * cos + a * sin, x[..., turning:]], axis=-1)
