# %% where-after-the-load
# part: 1
"""Replaces what is masked after the load."""
import numpy as np
from tile import Memory

def kernel(t, row, x, y, n, block):
    cols = np.arange(block)
    v = np.where(cols < n, t.load(x, row * n + cols, cols < n), -np.inf)
    e = np.exp(v - np.max(v))
    t.store(y, row * n + cols, e / np.sum(e), cols < n)

def rms(t, row, x, g, y, n, eps, block):
    cols = np.arange(block)
    v = t.load(x, row * n + cols, cols < n)
    t.store(y, row * n + cols, v / np.sqrt(np.dot(v, v) / n + eps) * t.load(g, cols, cols < n), cols < n)

def softmax(t, x, block):
    y = t.empty(x.size, x.dtype)
    t.launch(kernel, len(x), Memory(x), y, x.shape[1], block)
    return y.array.reshape(x.shape)

def rmsnorm(t, x, gamma, eps, block):
    y = t.empty(x.size, x.dtype)
    t.launch(rms, len(x), Memory(x), Memory(gamma), y, x.shape[1], eps, block)
    return y.array.reshape(x.shape)

# %% addresses-of-the-row-alone
# part: 1
"""Tiles as long as the row, and no mask."""
import numpy as np
from tile import Memory

def softmax(t, x, block):
    rows, n = x.shape
    out = Memory(np.zeros_like(x))
    def kernel(t, r, src):
        at = np.arange(r * n, r * n + n)
        v = t.load(src, at).astype("float64")
        v -= v.max()
        np.exp(v, out=v)
        t.store(out, at, v / v.sum())
    t.launch(kernel, rows, Memory(x))
    return out.array.reshape(rows, n)

def rmsnorm(t, x, gamma, eps, block):
    rows, n = x.shape
    out, weight = Memory(np.empty_like(x)), Memory(gamma)
    def kernel(t, r, src):
        at = np.arange(n) + r * n
        v = t.load(src, at).astype("float64")
        t.store(out, at, v * t.load(weight, np.arange(n)) * (np.mean(v * v) + eps) ** -0.5)
    t.launch(kernel, rows, Memory(x))
    return out.array.reshape(rows, n)

# %% exponentials-masked
# part: 1
"""The maximum over what is inside, and a sum of exponentials times the mask."""
import numpy as np
from tile import Memory

def soft(t, row, x, y, n, block):
    cols = np.arange(block)
    inside = cols < n
    v = t.load(x, row * n + cols, mask=inside)
    e = np.where(inside, np.exp(np.where(inside, v - v[inside].max(), 0)), 0)
    t.store(y, row * n + cols, e / e.sum(), mask=inside)

def norm(t, row, x, gamma, y, n, eps, block):
    cols = np.arange(block)
    inside = cols < n
    v = t.load(x, row * n + cols, mask=inside)
    w = t.load(gamma, cols, mask=inside)
    root = np.sqrt((v[inside] ** 2).mean() + eps)
    t.store(y, row * n + cols, v / root * w, mask=inside)

def softmax(t, x, block):
    rows, n = x.shape
    y = t.empty(x.size, x.dtype)
    t.launch(soft, rows, Memory(x), y, n, block)
    return y.array.reshape(rows, n)

def rmsnorm(t, x, gamma, eps, block):
    rows, n = x.shape
    y = t.empty(x.size, x.dtype)
    t.launch(norm, rows, Memory(x), Memory(gamma), y, n, eps, block)
    return y.array.reshape(rows, n)

# %% float64-inside
"""float64 wherever it is free, log-sum-exp, strided rows, a second launch of one program per column."""
import numpy as np
from tile import Memory

def spans(n, block):
    for a in range(0, n, block):
        yield np.arange(a, min(n, a + block))

def soft(t, row, x, y, n, block):
    lse, v = -np.inf, None
    for c in spans(n, block):
        v = t.load(x, row * n + c).astype(float)
        lse = np.logaddexp(lse, np.logaddexp.reduce(v))
    for c in spans(n, block):
        if n > block:
            v = t.load(x, row * n + c).astype(float)
        t.store(y, row * n + c, np.exp(v - lse))

def norm(t, row, x, g, y, r, n, eps, block):
    total = 0.0
    for c in spans(n, block):
        v = t.load(x, row * n + c).astype(float)
        total += float(v @ v)
    s = (total / n + eps) ** -0.5
    for c in spans(n, block):
        if n > block:
            v = t.load(x, row * n + c).astype(float)
        t.store(y, row * n + c, v * s * t.load(g, c).astype(float))
    if r is not None:
        t.store(r, np.array([row]), s)

def softmax(t, x, block):
    y = t.empty(x.size, x.dtype)
    t.launch(soft, len(x), Memory(x), y, x.shape[1], block)
    return y.array.reshape(x.shape)

def rmsnorm(t, x, gamma, eps, block, train=False):
    y, r = t.empty(x.size, x.dtype), t.empty(len(x), np.float32) if train else None
    t.launch(norm, len(x), Memory(x), Memory(gamma), y, r, x.shape[1], eps, block)
    return y.array.reshape(x.shape), (r.array if train else None)

def back(t, p, x, g, r, gy, gx, part, rows, n, programs, block):
    acc = [0.0 for _ in spans(n, block)]
    for row in range(p, rows, programs):
        s = t.load(r, np.array([row])).astype(float)
        tiles = [(t.load(x, row * n + c) * s, t.load(gy, row * n + c).astype(float), t.load(g, c).astype(float)) for c in spans(n, block)]
        m = sum((h * d * w).sum() for h, d, w in tiles) / n
        for i, (c, (h, d, w)) in enumerate(zip(spans(n, block), tiles)):
            acc[i] = acc[i] + h * d
            t.store(gx, row * n + c, s * (d * w - h * m))
    for c, a in zip(spans(n, block), acc):
        t.store(part, p * n + c, a)

def add(t, p, part, out, parts, n):
    t.store(out, [p], sum(float(t.load(part, [i * n + p])[0]) for i in range(parts)))

def rmsnorm_backward(t, x, gamma, rstd, grad_y, block, programs):
    rows, n = x.shape
    gx, part, out = t.empty(x.size, x.dtype), t.empty(programs * n, np.float32), t.empty(n, np.float32)
    t.launch(back, programs, Memory(x), Memory(gamma), Memory(rstd), Memory(grad_y), gx, part, rows, n, programs, block)
    t.launch(add, n, part, out, programs, n)
    return gx.array.reshape(rows, n), out.array

# %% one-kernel-of-phases
"""One function for both kernels: what is added up, and what is stored; rows are cut by array_split."""
import numpy as np
from tile import Memory

F = np.float32

def sweep(t, memory, base, n, block, fill):
    for start in range(0, n, block):
        cols = np.arange(start, start + block)
        yield cols, cols < n, t.load(memory, base + cols, cols < n, fill).astype(F)

def two_phase(t, memory, base, n, block, fill, seen, write):
    state = None
    for cols, inside, v in sweep(t, memory, base, n, block, fill):
        state = seen(state, v)
    if n <= block:
        write(cols, inside, v, state)
        return state
    for cols, inside, v in sweep(t, memory, base, n, block, fill):
        write(cols, inside, v, state)
    return state

def soft(t, row, x, y, n, block):
    def seen(state, v):
        m = v.max()
        if m == -np.inf:
            return state
        s = np.exp(v - m).sum()
        if state is None:
            return m, s
        top = max(m, state[0])
        return top, state[1] * np.exp(state[0] - top) + s * np.exp(m - top)
    def write(cols, inside, v, state):
        t.store(y, row * n + cols, np.exp(v - state[0]) / state[1], inside)
    two_phase(t, x, row * n, n, block, -np.inf, seen, write)

def norm(t, row, x, g, y, r, n, eps, block):
    def seen(state, v):
        return (state or F(0)) + np.einsum("i,i", v, v)
    def scale(total):
        return F(1) / np.sqrt(total / F(n) + F(eps))
    def write(cols, inside, v, state):
        t.store(y, row * n + cols, v * scale(state) * t.load(g, cols, inside).astype(F), inside)
    total = two_phase(t, x, row * n, n, block, 0.0, seen, write)
    if r is not None:
        t.store(r, [row], scale(total))

def softmax(t, x, block):
    y = t.empty(x.size, x.dtype)
    t.launch(soft, x.shape[0], Memory(x), y, x.shape[1], block)
    return y.array.reshape(x.shape)

def rmsnorm(t, x, gamma, eps, block, train=False):
    y = t.empty(x.size, x.dtype)
    r = t.empty(x.shape[0], F) if train else None
    t.launch(norm, x.shape[0], Memory(x), Memory(gamma), y, r, x.shape[1], eps, block)
    return y.array.reshape(x.shape), None if r is None else r.array

def rmsnorm_backward(t, x, gamma, rstd, grad_y, block, programs):
    rows, n = x.shape
    starts = range(0, n, block)
    gx, shares, total = t.empty(x.size, x.dtype), t.empty(programs * n, F), t.empty(n, F)
    mx, mg, mr, my = map(Memory, (x, gamma, rstd, grad_y))
    chunks = np.array_split(np.arange(rows), programs)

    def back(t, p):
        mine = np.zeros((len(starts), block), F)
        for row in chunks[p]:
            s = t.load(mr, [int(row)])[0]
            acc = F(0)
            for k, start in enumerate(starts):
                c = start + np.arange(block)
                i = c < n
                d = t.load(my, row * n + c, i).astype(F)
                h = t.load(mx, row * n + c, i).astype(F) * s
                mine[k] += d * h
                acc += (d * h * t.load(mg, c, i)).sum(dtype=F)
            for start in starts:
                c = start + np.arange(block)
                i = c < n
                d = t.load(my, row * n + c, i).astype(F) * t.load(mg, c, i)
                h = t.load(mx, row * n + c, i).astype(F) * s
                t.store(gx, row * n + c, (d - h * (acc / F(n))) * s, i)
        for k, start in enumerate(starts):
            c = start + np.arange(block)
            t.store(shares, p * n + c, mine[k], c < n)

    def add(t, k):
        c = k * block + np.arange(block)
        out = np.zeros(block, F)
        for p in range(programs):
            out = out + t.load(shares, p * n + c, c < n)
        t.store(total, c, out, c < n)

    t.launch(back, programs)
    t.launch(add, len(starts))
    return gx.array.reshape(rows, n), total.array

# %% lists-of-python
"""Python's own floats inside: math.exp, math.fsum, entry by entry."""
import math

import numpy as np
from tile import Memory

def cuts(n, block):
    return [(a, min(a + block, n)) for a in range(0, n, block)] if n < 10000 else ((a, min(a + block, n)) for a in range(0, n, block))

def get(t, memory, lo, hi):
    return [float(v) for v in t.load(memory, np.arange(lo, hi))]

def soft(t, row, x, y, n, block):
    o, top, total, v = row * n, -math.inf, 0.0, []
    for a, b in cuts(n, block):
        v = get(t, x, o + a, o + b)
        new = max(top, *v)
        if new > -math.inf:
            total = total * math.exp(top - new) + math.fsum(math.exp(e - new) for e in v)
            top = new
    for a, b in cuts(n, block):
        v = v if n <= block else get(t, x, o + a, o + b)
        t.store(y, np.arange(o + a, o + b), np.array([math.exp(e - top) / total for e in v]))

def norm(t, row, x, g, y, r, n, eps, block):
    o, total, v = row * n, 0.0, []
    for a, b in cuts(n, block):
        v = get(t, x, o + a, o + b)
        total += math.fsum(e * e for e in v)
    s = 1 / math.sqrt(total / n + eps)
    if r:
        t.store(r, np.array([row]), s)
    for a, b in cuts(n, block):
        v = v if n <= block else get(t, x, o + a, o + b)
        w = get(t, g, a, b)
        t.store(y, np.arange(o + a, o + b), np.array([e * s * c for e, c in zip(v, w)]))

def softmax(t, x, block):
    rows, n = x.shape
    y = Memory(np.zeros(x.shape, x.dtype))
    t.launch(soft, rows, Memory(x), y, n, block)
    return y.array.reshape(rows, n)

def rmsnorm(t, x, gamma, eps, block, train=False):
    rows, n = x.shape
    y, r = t.empty(rows * n, x.dtype), None
    if train:
        r = t.empty(rows, np.float32)
    t.launch(norm, rows, Memory(x), Memory(gamma), y, r, n, eps, block)
    return y.array.reshape(rows, n), r.array if r else None

def back(t, p, x, g, r, gy, gx, part, rows, n, block, programs):
    mine = [0.0] * n
    for row in range(rows):
        if row % programs != p:
            continue
        o = row * n
        s = float(t.load(r, np.array([row]))[0])
        h, d, w = [], [], []
        for a, b in cuts(n, block):
            h += [e * s for e in get(t, x, o + a, o + b)]
            d += get(t, gy, o + a, o + b)
            w += get(t, g, a, b)
        mean = math.fsum(i * j * k for i, j, k in zip(h, d, w)) / n
        for i in range(n):
            mine[i] += h[i] * d[i]
        for a, b in cuts(n, block):
            t.store(gx, np.arange(o + a, o + b), np.array([s * (d[i] * w[i] - h[i] * mean) for i in range(a, b)]))
    for a, b in cuts(n, block):
        t.store(part, np.arange(p * n + a, p * n + b), np.array(mine[a:b]))

def add(t, _, part, out, programs, n, block):
    for a, b in cuts(n, block):
        t.store(out, np.arange(a, b), sum(t.load(part, np.arange(q * n + a, q * n + b)) for q in range(programs)))

def rmsnorm_backward(t, x, gamma, rstd, grad_y, block, programs):
    rows, n = x.shape
    gx, part, out = t.empty(x.size, x.dtype), t.empty(programs * n, np.float32), t.empty(n, np.float32)
    t.launch(back, programs, Memory(x), Memory(gamma), Memory(rstd), Memory(grad_y), gx, part, rows, n, block, programs)
    t.launch(add, 1, part, out, programs, n, block)
    return gx.array.reshape(rows, n), out.array

# %% classes
"""A row as an object that loads tiles; train and lean are two kernels."""
import numpy as np
from tile import Memory

class Row:
    def __init__(self, t, memory, row, n, block, other=0.0):
        self.t, self.memory, self.n, self.block, self.other = t, memory, n, block, other
        self.base, self.last = row * n, None

    def __iter__(self):
        for start in range(0, self.n, self.block):
            cols = np.arange(start, start + self.block)
            inside = cols < self.n
            if self.n > self.block or self.last is None:
                self.last = self.t.load(self.memory, self.base + cols, inside, self.other).astype(np.float32)
            yield cols, inside, self.last

def soft(t, row, x, y, n, block):
    tiles = Row(t, x, row, n, block, -np.inf)
    m = s = None
    for _, _, v in tiles:
        high = v.max()
        if m is None or high > m:
            s = np.float32(0) if m is None or np.isinf(m) else s * np.exp(m - high)
            m = high
        if not np.isinf(m):
            s = s + np.exp(v - m).sum()
    for cols, inside, v in tiles:
        t.store(y, row * n + cols, np.exp(v - m) * (1 / s), inside)

def lean(t, row, x, gamma, y, n, eps, block):
    tiles = Row(t, x, row, n, block)
    s = np.float32(0)
    for _, _, v in tiles:
        s = s + np.sum(np.square(v))
    scale = np.reciprocal(np.sqrt(s / n + eps))
    for (cols, inside, v), (_, _, w) in zip(tiles, Row(t, gamma, 0, n, block)):
        t.store(y, row * n + cols, v * w * scale, inside)
    return scale

def training(t, row, x, gamma, y, rstd, *rest):
    t.store(rstd, [row], lean(t, row, x, gamma, y, *rest))

def softmax(t, x, block):
    y = t.empty(x.size, x.dtype)
    t.launch(soft, len(x), Memory(x), y, x.shape[1], block)
    return y.array.reshape(x.shape)

def rmsnorm(t, x, gamma, eps, block, train=False):
    rows, n = x.shape
    y, given, rstd = t.empty(x.size, x.dtype), (Memory(x), Memory(gamma)), None
    if train:
        memory = t.empty(rows, np.float32)
        t.launch(training, rows, *given, y, memory, n, eps, block)
        rstd = memory.array
    else:
        t.launch(lean, rows, *given, y, n, eps, block)
    return y.array.reshape(rows, n), rstd

def back(t, p, x, gamma, rstd, gy, gx, parts, rows, n, block, programs):
    own = {}
    low, high = p * rows // programs, (p + 1) * rows // programs
    for row in range(low, high):
        s = t.load(rstd, [row])[0]
        kept = list(zip(Row(t, x, row, n, block), Row(t, gy, row, n, block), Row(t, gamma, 0, n, block)))
        kept = [(c, i, v * s, d, w) for (c, i, v), (_, _, d), (_, _, w) in kept]
        dot = sum(float((h * d * w).sum()) for _, _, h, d, w in kept)
        for c, i, h, d, w in kept:
            own[c[0]] = own.get(c[0], 0) + h * d
            t.store(gx, row * n + c, s * (d * w - h * np.float32(dot / n)), i)
    for start in range(0, n, block):
        c = start + np.arange(block)
        t.store(parts, p * n + c, own.get(start, 0.0), c < n)

def rmsnorm_backward(t, x, gamma, rstd, grad_y, block, programs):
    rows, n = x.shape
    gx, parts = t.empty(x.size, x.dtype), t.empty(programs * n, np.float32)
    t.launch(back, programs, Memory(x), Memory(gamma), Memory(rstd), Memory(grad_y), gx, parts, rows, n, block, programs)
    out = Memory(np.zeros(n, np.float32))
    def add(t, k):
        c = np.arange(k * block, min(n, k * block + block))
        t.store(out, c, np.sum([t.load(parts, q * n + c) for q in range(programs)], axis=0))
    t.launch(add, (n + block - 1) // block)
    return gx.array.reshape(rows, n), out.array

# %% two-launches-for-long-rows
"""Long rows in two launches: statistics per row first, then y from them; a tree adds the shares."""
import numpy as np
from tile import Memory

def tile_of(start, block, n):
    cols = np.arange(start, start + block)
    return cols, cols < n

def stats(t, row, x, out, n, block):
    top, total = np.float32(-3.4e38), np.float32(0)
    for start in range(0, n, block):
        cols, inside = tile_of(start, block, n)
        v = np.float32(t.load(x, row * n + cols, inside, float("-inf")))
        new = np.fmax(top, v.max())
        total = np.exp(top - new) * total + np.exp(v - new).sum()
        top = new
    t.store(out, [2 * row], top)
    t.store(out, [2 * row + 1], total)

def write(t, row, x, out, y, n, block):
    top, total = t.load(out, [2 * row])[0], t.load(out, [2 * row + 1])[0]
    for start in range(0, n, block):
        cols, inside = tile_of(start, block, n)
        v = np.float32(t.load(x, row * n + cols, inside))
        t.store(y, row * n + cols, np.exp(v - top) / total, inside)

def whole(t, row, x, y, n, block):
    cols, inside = tile_of(0, block, n)
    v = np.float32(t.load(x, row * n + cols, inside, float("-inf")))
    e = np.exp(v - v.max())
    t.store(y, row * n + cols, e / e.sum(), inside)

def softmax(t, x, block):
    rows, n = x.shape
    given, y = Memory(x), t.empty(x.size, x.dtype)
    if n <= block:
        t.launch(whole, rows, given, y, n, block)
    else:
        found = t.empty(2 * rows, np.float32)
        t.launch(stats, rows, given, found, n, block)
        t.launch(write, rows, given, found, y, n, block)
    return y.array.reshape(rows, n)

def norm(t, row, x, gamma, y, rstd, n, eps, block):
    squares, tiles = np.float32(0), {}
    for start in range(0, n, block):
        cols, inside = tile_of(start, block, n)
        tiles = {start: np.float32(t.load(x, row * n + cols, inside))}
        squares += np.linalg.norm(tiles[start]) ** 2
    scale = 1 / np.sqrt(squares / n + eps)
    if rstd is not None:
        t.store(rstd, np.array(row).reshape(1), scale)
    for start in range(0, n, block):
        cols, inside = tile_of(start, block, n)
        v = tiles[start] if n <= block else np.float32(t.load(x, row * n + cols, inside))
        t.store(y, row * n + cols, v * scale * np.float32(t.load(gamma, cols, inside)), inside)

def rmsnorm(t, x, gamma, eps, block, train=False):
    rows, n = x.shape
    y, rstd = t.empty(x.size, x.dtype), t.empty(rows, np.float32) if train else None
    t.launch(norm, rows, Memory(x), Memory(gamma), y, rstd, n, eps, block)
    return y.array.reshape(rows, n), rstd and rstd.array

def back(t, p, x, gamma, rstd, gy, gx, parts, rows, n, block, programs):
    share = np.zeros(n, np.float32)
    for row in range(p, rows, programs):
        s = t.load(rstd, [row])[0]
        h, d, w = (np.zeros(n, np.float32) for _ in range(3))
        for start in range(0, n, block):
            c = np.arange(start, min(n, start + block))
            h[c], d[c], w[c] = t.load(x, row * n + c), t.load(gy, row * n + c), t.load(gamma, c)
        h *= s
        share += h * d
        d *= w
        g = s * (d - h * ((d @ h) / n))
        for start in range(0, n, block):
            c = np.arange(start, min(n, start + block))
            t.store(gx, row * n + c, g[c])
    for start in range(0, n, block):
        c = np.arange(start, min(n, start + block))
        t.store(parts, p * n + c, share[c])

def halve(t, k, parts, n, block, half, count):
    for start in range(0, n, block):
        c = np.arange(start, min(n, start + block))
        if k + half < count:
            t.store(parts, k * n + c, t.load(parts, k * n + c) + t.load(parts, (k + half) * n + c))

def rmsnorm_backward(t, x, gamma, rstd, grad_y, block, programs):
    rows, n = x.shape
    gx, parts = t.empty(x.size, x.dtype), t.empty(programs * n, np.float32)
    t.launch(back, programs, Memory(x), Memory(gamma), Memory(rstd), Memory(grad_y), gx, parts, rows, n, block, programs)
    count = programs
    while count > 1:
        half = -(-count // 2)
        t.launch(halve, half, parts, n, block, half, count)
        count = half
    return gx.array.reshape(rows, n), parts.array[:n].copy()
