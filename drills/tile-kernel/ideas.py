# %% tail-in-the-sum
# killed_by: tail
"""Your sum runs over the masked end of the tile, and perhaps your maximum does, too. It was loaded
as 0, and in a softmax 0 is a score like any other: each masked entry adds exp(0 - maximum). Where
scores are large that is nothing, and where all are far below 0 it is everything."""

def _scores(t, x, at, inside):
    return t.load(x, at, mask=inside).astype(WIDE)

# %% tail-in-the-sum / of-the-next-power-of-two
def _tiles(n, block):
    width = min(block, 1 << (n - 1).bit_length())
    for start in range(0, n, width):
        cols = start + np.arange(width)
        yield cols, cols < n

def _scores(t, x, at, inside):
    return t.load(x, at, mask=inside).astype(WIDE)

# %% zero-in-the-maximum
# killed_by: far-below
"""Your maximum is never below 0, since it runs over the masked end of the tile. Measured from there
the exponentials of a row far below 0 vanish, and 0 is divided by 0. Near 0 nothing shows, because
any point will do to measure from."""

def _add(state, v):
    top, total = state
    new = np.maximum(top, np.where(np.isneginf(v), WIDE(0), v).max())
    base = _base(new)
    return new, total * np.exp(top - base) + _exps(v, base).sum()

# %% large-negative-fill
# killed_by: far-below
"""Your masked entries are a large negative number. A row of scores that lie below it gets no weight
at all. Minus infinity lies below every score."""

def _scores(t, x, at, inside):
    return t.load(x, at, mask=inside, other=-1e4).astype(WIDE)

# %% infinity-everywhere
# killed_by: rms
"""Your RMSNorm loads minus infinity at the masked end, and returns 0 throughout. What does not count
depends on what is done with it: minus infinity for a maximum or a sum of exponentials, 0 for a sum
of squares."""

def _loaded(t, x, at, inside):
    return t.load(x, at, mask=inside, other=-np.inf).astype(WIDE)

# %% mean-over-the-tile
# killed_by: rms
"""Your mean divides by the width of the tiles. Masked entries are no entries: divide by n."""

def _count(n, block):
    return -(-n // block) * block

# %% mean-over-the-tile / of-the-next-power-of-two
def _count(n, block):
    width = min(block, 1 << (n - 1).bit_length())
    return -(-n // width) * width

# %% store-beyond-the-row
# killed_by: tail
"""Your store has no mask. It writes into the next row, whose program overwrites that later, here;
on a card nobody says who is last. In the last row it raises OutOfBounds."""

def _softmax_kernel(t, row, x, y, n, block):
    state = _nothing()
    for cols, inside in _tiles(n, block):
        v = _scores(t, x, row * n + cols, inside)
        state = _add(state, v)
    for cols, inside in _tiles(n, block):
        if _again(n, block):
            v = _scores(t, x, row * n + cols, inside)
        t.store(y, row * n + cols, _share(v, state))

# %% loads-again
# killed_by: [bounds, rms-bounds]
"""The numbers are right, and you load a row again that is still in your tile. Memory is what a
kernel like this waits for."""

def _again(n, block):
    return True

# %% no-rescale
# killed_by: long
"""Where a later tile has a larger maximum, the sum so far stays measured from the old one. Multiply
it by exp(old - new) before you add."""

def _add(state, v):
    top, total = state
    new = np.maximum(top, v.max())
    return new, total + _exps(v, _base(new)).sum()

# %% nothing-less-nothing
# killed_by: minus-infinity
"""Where a tile holds minus infinities alone you take minus infinity off itself, which is NaN. Take
off 0 until there is a number."""

def _base(top):
    return top

# %% each-tile-for-itself
# killed_by: long
"""Each tile is a softmax of its own, and a row sums to the number of its tiles. Maximum and sum are
those of the whole row."""

def _softmax_kernel(t, row, x, y, n, block):
    for cols, inside in _tiles(n, block):
        v = _scores(t, x, row * n + cols, inside)
        if _again(n, block):
            v = _scores(t, x, row * n + cols, inside)
        t.store(y, row * n + cols, _share(v, _add(_nothing(), v)), mask=inside)

# %% last-tile-dropped
# killed_by: [long, rms-long]
"""A last tile that is not full is never reached, and what it covers is never written. Round the
number of tiles up."""

def _tiles(n, block):
    for start in range(0, max(n - block + 1, 1), block):
        cols = start + np.arange(block)
        yield cols, cols < n

# %% sums-in-the-dtype-of-x
# killed_by: half
"""Your running sums have the dtype of x. float16 has 11 bits: from 2,048 on it no longer has every
whole number, and what is added is rounded to what it has. A thousand columns do not show it.
Accumulate in float32."""

def _scores(t, x, at, inside):
    return t.load(x, at, mask=inside, other=-np.inf)

def _loaded(t, x, at, inside):
    return t.load(x, at, mask=inside)

def _add(state, v):
    top, total = (v.dtype.type(one) for one in state)
    new = np.maximum(top, v.max())
    base = v.dtype.type(_base(new))
    return new, total * np.exp(top - base) + _exps(v, base).sum()

def _sum_dtype(x):
    return x.array.dtype.type

# %% exponentials-in-the-dtype-of-x
# killed_by: half-sums
"""Your sum is kept in float32, and what you add to it is not: exponentials are rounded to the dtype of
x first. All those of one score are off in the same direction, so their errors do not cancel."""

def _softmax_kernel(t, row, x, y, n, block):
    state = _nothing()
    for cols, inside in _tiles(n, block):
        v = _scores(t, x, row * n + cols, inside)
        top, total = state
        new = np.maximum(top, v.max())
        base = _base(new)
        e = _exps(v, base).astype(x.array.dtype).astype(WIDE)
        state = new, total * np.exp(top - base) + e.sum()
    for cols, inside in _tiles(n, block):
        if _again(n, block):
            v = _scores(t, x, row * n + cols, inside)
        t.store(y, row * n + cols, _share(v, state), mask=inside)

# %% squares-before-the-cast
# killed_by: rms-half
"""Your RMSNorm squares first and casts afterward. The square of 300 is beyond float16: infinity, and
one over its root is 0. Cast what you load."""

def _loaded(t, x, at, inside):
    return t.load(x, at, mask=inside)

def _squares(v):
    return (v * v).astype(WIDE).sum()

# %% y-in-float32
# killed_by: half
"""Your y is float32 whatever x is. It has the dtype of x: what comes next was written for that, and
half of the bytes are saved."""

def softmax(t, x, block):
    rows, n = x.shape
    y = t.empty(x.size, WIDE)
    t.launch(_softmax_kernel, rows, Memory(x), y, n, block)
    return y.array.reshape(rows, n)

def rmsnorm(t, x, gamma, eps, block, train=False):
    rows, n = x.shape
    y, rstd = t.empty(x.size, WIDE), _kept(t, rows, x, train)
    t.launch(_rmsnorm_kernel, rows, Memory(x), Memory(gamma), y, rstd, n, eps, block)
    return y.array.reshape(rows, n), rstd.array if train else None

# %% three-passes
# killed_by: passes
"""The numbers are right, and rows that are longer than a tile are read three times, for the maximum,
for the sum, and for y. One pass finds both maximum and sum."""

def _softmax_kernel(t, row, x, y, n, block, inner=_softmax_kernel):
    for cols, inside in _tiles(n, block) if n > block else ():
        _scores(t, x, row * n + cols, inside)
    inner(t, row, x, y, n, block)

# %% largest-entry-first
# killed_by: rms-passes
"""The numbers are right, and your RMSNorm reads a row of several tiles once more, to find its
largest entry before it squares. In float32 the squares of float16 have room: cast, and square."""

def _rmsnorm_kernel(t, row, x, gamma, y, rstd, n, eps, block, inner=_rmsnorm_kernel):
    for cols, inside in _tiles(n, block) if n > block else ():
        _loaded(t, x, row * n + cols, inside)
    inner(t, row, x, gamma, y, rstd, n, eps, block)

# %% grad-x-in-float32
# killed_by: half-x
"""Your grad_x is float32 whatever x is. A gradient has the dtype of what it belongs to."""

def rmsnorm_backward(t, x, gamma, rstd, grad_y, block, programs, inner=rmsnorm_backward):
    grad_x, grad_gamma = inner(t, x, gamma, rstd, grad_y, block, programs)
    return grad_x.astype(WIDE), grad_gamma

# %% adds-into-one-row
# killed_by: races
"""All your programs add into one row of memory. They run one after the other here, and at the same
time on a card, where loads and stores of two of them mix and a share is lost. Give each a row of its
own, and add those in a second launch."""

def rmsnorm_backward(t, x, gamma, rstd, grad_y, block, programs):
    rows, n = x.shape
    grad_x, total = t.empty(x.size, x.dtype), Memory(np.zeros(n, WIDE))
    given = [Memory(array) for array in (x, gamma, rstd, grad_y)]
    t.launch(_adding_kernel, programs, *given, grad_x, total, rows, n, block, programs)
    return grad_x.array.reshape(rows, n), total.array

def _adding_kernel(t, program, x, gamma, rstd, grad_y, grad_x, total, rows, n, block, programs):
    own = Tiles(block, watch=False)
    parts = own.empty(programs * n, WIDE)
    _backward_kernel(t, program, x, gamma, rstd, grad_y, grad_x, parts, rows, n, block, programs)
    for cols, inside in _tiles(n, block):
        so_far = t.load(total, cols, mask=inside)
        t.store(total, cols, so_far + own.load(parts, program * n + cols, mask=inside), mask=inside)

# %% shares-not-begun
# killed_by: gradients
"""The sums of grad_gamma begin with what memory happens to hold. Begin them with zeros."""

def _add_kernel(t, program, parts, total, programs, n, block):
    cols = program * block + np.arange(block)
    inside = cols < n
    found = t.load(total, cols, mask=inside)
    for i in range(programs):
        found = found + t.load(parts, i * n + cols, mask=inside)
    t.store(total, cols, found, mask=inside)

# %% one-row-of-each-program
# killed_by: gradients
"""grad_gamma has one row of each program: the share of each row replaces that of the row before.
All rows go through gamma, so their shares add up."""

def rmsnorm_backward(t, x, gamma, rstd, grad_y, block, programs, inner=rmsnorm_backward):
    grad_x, grad_gamma = inner(t, x, gamma, rstd, grad_y, block, programs)
    last = [_rows(p, len(x), programs)[-1] for p in range(programs) if len(_rows(p, len(x), programs))]
    h = x[last].astype(WIDE) * rstd[last, None]
    return grad_x, (grad_y[last] * h).sum(axis=0, dtype=WIDE)

# %% rows-left-over
# killed_by: gradients
"""Each of your programs has rows // programs rows. Where that leaves some over, they belong to
nobody, and their grad_x is never written. Round up, and end at the last row."""

def _rows(program, rows, programs):
    each = rows // programs
    return range(program * each, (program + 1) * each)

# %% path-through-rstd
# killed_by: gradients
"""Your grad_x lacks what comes through rstd, or has it with a wrong factor: it is rstd times the
gradient of h = x * rstd, less h times the mean of that gradient times h."""

def _grad(grad_h, h, dot, n, scale):
    return scale * grad_h

# %% path-through-rstd / sum-for-mean
def _grad(grad_h, h, dot, n, scale):
    return scale * (grad_h - h * dot)

# %% path-through-rstd / without-gamma
def _dot(d, w, h):
    return (d * h).sum()

# %% path-through-rstd / not-scaled
def _grad(grad_h, h, dot, n, scale):
    return scale * grad_h - h * dot / n

# %% gamma-without-rstd
# killed_by: gradients
"""Your grad_gamma is the sum over rows of grad_y * x. What gamma multiplies is x * rstd."""

def rmsnorm_backward(t, x, gamma, rstd, grad_y, block, programs, inner=rmsnorm_backward):
    grad_x, _ = inner(t, x, gamma, rstd, grad_y, block, programs)
    return grad_x, (grad_y.astype(WIDE) * x).sum(axis=0, dtype=WIDE)

# %% shares-in-the-dtype-of-x
# killed_by: half-gamma
"""What your programs keep of grad_gamma between the launches has the dtype of x, and so as few
digits. It is one number per column and program: keep it in float32."""

def _part_dtype(x):
    return x.dtype.type

# %% dots-in-the-dtype-of-x
# killed_by: half-x
"""Your grad_x is right but for the sum over a row of grad_y gamma h, which you keep in the dtype of x.
It is taken off again, times h / n, so that what its rounding loses is in every entry of the row.
Keep it in float32."""

def _backward_kernel(
    t, program, x, gamma, rstd, grad_y, grad_x, parts, rows, n, block, programs
):
    shares = [np.zeros(block, WIDE) for _ in _tiles(n, block)]
    kept = x.array.dtype.type
    for row in _rows(program, rows, programs):
        scale = t.load(rstd, [row])[0]
        dot = kept(0)
        for (cols, inside), share in zip(_tiles(n, block), shares, strict=True):
            h, d, w = _row(t, x, gamma, grad_y, row * n, cols, inside)
            share += d * (h * scale)
            dot = kept(dot + _dot(d, w, h * scale))
        for cols, inside in _tiles(n, block):
            h, d, w = _row(t, x, gamma, grad_y, row * n, cols, inside)
            made = _grad(d * w, h * scale, WIDE(dot), n, scale)
            t.store(grad_x, row * n + cols, made, mask=inside)
    for (cols, inside), share in zip(_tiles(n, block), shares, strict=True):
        t.store(parts, program * n + cols, share, mask=inside)

# %% rstd-in-the-dtype-of-x
# killed_by: kept
"""Your rstd has the dtype of x. It is one number per row, and every gradient of that row depends on
it: keep it in float32."""

def _kept(t, rows, x, train):
    return t.empty(rows, x.dtype) if train else None

# %% always-saves
# killed_by: lean
"""Your forward stores rstd whether anybody wants it or not. In inference nothing is to be stored
that only a backward needs."""

def _kept(t, rows, x, train):
    return t.empty(rows, WIDE)

# %% shares-added-outside-of-kernels
# killed_by: races
"""The gradients are right, and the last addition, of the shares of your programs, is not done in a
kernel. On a card they would be read back for it. A second launch adds them."""

def rmsnorm_backward(t, x, gamma, rstd, grad_y, block, programs, inner=rmsnorm_backward):
    grad_x, grad_gamma = inner(t, x, gamma, rstd, grad_y, block, programs)
    h = x.astype(WIDE) * rstd[:, None]
    return grad_x, sum(g * one for g, one in zip(grad_y.astype(WIDE), h, strict=True))

# %% sums-travel
# killed_by: traffic
"""The gradients are right, and your sums of grad_gamma travel to memory and back with every row.
Keep them in the program, and store them once."""

def _backward_kernel(
    t, program, x, gamma, rstd, grad_y, grad_x, parts, rows, n, block, programs, inner=_backward_kernel
):
    inner(t, program, x, gamma, rstd, grad_y, grad_x, parts, rows, n, block, programs)
    for _ in _rows(program, rows, programs):
        for cols, inside in _tiles(n, block):
            share = t.load(parts, program * n + cols, mask=inside)
            t.store(parts, program * n + cols, share, mask=inside)

# %% a-program-per-row
# killed_by: races
"""Your first launch has a program per row, and as many rows of shares. A few programs that take
several rows each are asked for: `programs` of them."""

def rmsnorm_backward(t, x, gamma, rstd, grad_y, block, programs, inner=rmsnorm_backward):
    return inner(t, x, gamma, rstd, grad_y, block, len(x))
