# %% blocks-as-objects
"""A block is an object that runs, is undone, and goes backward."""

import branch
import numpy as np

class Block:
    def __init__(self, a, b, grid):
        self.f, self.g, self.grid = (a[0], b[0]), (a[1], b[1]), grid

    def added(self, v, weights):
        out, hidden = branch.run(v, *weights)
        if self.grid is not None:
            out = np.rint(out / self.grid) * self.grid
        return out, hidden

    def run(self, x1, x2):
        y1 = x1 + self.added(x2, self.f)[0]
        return y1, x2 + self.added(y1, self.g)[0]

    def undo(self, y1, y2):
        x2 = y2 - self.added(y1, self.g)[0]
        return y1 - self.added(x2, self.f)[0], x2

    def back(self, grad_y1, grad_y2, y1, y2):
        added, hidden = self.added(y1, self.g)
        x2 = y2 - added
        via, a_g, b_g = branch.back(grad_y2, y1, hidden, *self.g)
        grad_y1 = grad_y1 + via
        added, hidden = self.added(x2, self.f)
        via, a_f, b_f = branch.back(grad_y1, x2, hidden, *self.f)
        return (grad_y1, grad_y2 + via), (y1 - added, x2), (a_f, a_g), (b_f, b_g)

def stack(a, b, grid):
    return [Block(*weights, grid) for weights in zip(a, b)]

def forward(x1, x2, a, b, grid=None):
    if grid is not None:
        x1, x2 = np.rint(x1 / grid) * grid, np.rint(x2 / grid) * grid
    for block in stack(a, b, grid):
        x1, x2 = block.run(x1, x2)
    return x1, x2

def reconstruct(y1, y2, a, b, grid=None):
    for block in stack(a, b, grid)[::-1]:
        y1, y2 = block.undo(y1, y2)
    return y1, y2

def backward(grad_y1, grad_y2, y1, y2, a, b, grid=None):
    grads, streams, of_a, of_b = (grad_y1, grad_y2), (y1, y2), [], []
    for block in reversed(stack(a, b, grid)):
        grads, streams, for_a, for_b = block.back(*grads, *streams)
        of_a.append(for_a)
        of_b.append(for_b)
    return *grads, np.array(of_a[::-1]), np.array(of_b[::-1])

# %% counts-of-the-grid
"""On a grid the streams are whole numbers of its steps, in int64."""

import branch
import numpy as np

def steps(v, grid):
    return np.rint(v / grid).astype(np.int64)

def values(k, grid, like):
    return (k * grid).astype(like.dtype)

def forward(x1, x2, a, b, grid=None):
    if grid is None:
        for (f, g), (p, q) in zip(a, b):
            x1 = x1 + branch.run(x2, f, p)[0]
            x2 = x2 + branch.run(x1, g, q)[0]
        return x1, x2
    k1, k2 = steps(x1, grid), steps(x2, grid)
    for (f, g), (p, q) in zip(a, b):
        k1 += steps(branch.run(values(k2, grid, x1), f, p)[0], grid)
        k2 += steps(branch.run(values(k1, grid, x1), g, q)[0], grid)
    return values(k1, grid, x1), values(k2, grid, x1)

def before(y1, y2, a, b, grid):
    """Yield (x2, y1) of each block, and at last x1, all from the last block on."""
    if grid is None:
        for i in range(len(a))[::-1]:
            x2 = y2 - branch.run(y1, a[i, 1], b[i, 1])[0]
            x1 = y1 - branch.run(x2, a[i, 0], b[i, 0])[0]
            yield i, x1, x2, y1
            y1, y2 = x1, x2
        return
    k1, k2 = steps(y1, grid), steps(y2, grid)
    for i in range(len(a))[::-1]:
        here = values(k1, grid, a)
        k2 -= steps(branch.run(here, a[i, 1], b[i, 1])[0], grid)
        x2 = values(k2, grid, a)
        k1 -= steps(branch.run(x2, a[i, 0], b[i, 0])[0], grid)
        yield i, values(k1, grid, a), x2, here

def reconstruct(y1, y2, a, b, grid=None):
    for _, x1, x2, _ in before(y1, y2, a, b, grid):
        pass
    return x1, x2

def backward(grad_y1, grad_y2, y1, y2, a, b, grid=None):
    g1, g2 = grad_y1.copy(), grad_y2.copy()
    grad_a, grad_b = np.zeros_like(a), np.zeros_like(b)
    for i, _, x2, out in before(y1, y2, a, b, grid):
        for to, other, v, k in ((g1, g2, out, 1), (g2, g1, x2, 0)):
            hidden = branch.run(v, a[i, k], b[i, k])[1]
            grad_v, grad_a[i, k], grad_b[i, k] = branch.back(other, v, hidden, a[i, k], b[i, k])
            to += grad_v
    return g1, g2, grad_a, grad_b

# %% formulas-written-out
"""No call of branch: tanh and its slope, with einsum."""

import numpy as np

def near(v, grid):
    if grid is None:
        return v
    return np.floor(v / grid + 0.5) * grid

def hidden_of(v, a):
    return np.tanh(np.einsum("nd,dh->nh", v, a))

def out_of(v, a, b, grid):
    return near(np.einsum("nh,hd->nd", hidden_of(v, a), b).astype(v.dtype), grid).astype(v.dtype)

def forward(x1, x2, a, b, grid=None):
    y1, y2 = near(x1, grid).copy(), near(x2, grid).copy()
    for f, g, p, q in zip(a[:, 0], a[:, 1], b[:, 0], b[:, 1]):
        y1 += out_of(y2, f, p, grid)
        y2 += out_of(y1, g, q, grid)
    return y1, y2

def reconstruct(y1, y2, a, b, grid=None):
    x1, x2 = y1.copy(), y2.copy()
    i = len(a)
    while i:
        i -= 1
        x2 -= out_of(x1, a[i, 1], b[i, 1], grid)
        x1 -= out_of(x2, a[i, 0], b[i, 0], grid)
    return x1, x2

def backward(grad_y1, grad_y2, y1, y2, a, b, grid=None):
    x1, x2 = y1.copy(), y2.copy()
    g1, g2 = grad_y1.copy(), grad_y2.copy()
    grad_a, grad_b = np.zeros(a.shape, a.dtype), np.zeros(b.shape, b.dtype)
    for i in range(len(a) - 1, -1, -1):
        h = hidden_of(x1, a[i, 1])
        dz = g2 @ b[i, 1].T * (1 - h * h)
        grad_a[i, 1], grad_b[i, 1] = x1.T @ dz, h.T @ g2
        x2 -= near(h @ b[i, 1], grid)
        g1 += dz @ a[i, 1].T
        h = hidden_of(x2, a[i, 0])
        dz = g1 @ b[i, 0].T * (1 - h * h)
        grad_a[i, 0], grad_b[i, 0] = x2.T @ dz, h.T @ g1
        x1 -= near(h @ b[i, 0], grid)
        g2 += dz @ a[i, 0].T
    return g1, g2, grad_a, grad_b

# %% one-array-of-streams
"""Both streams in one array; a half step adds to one of them what the other gives."""

import branch
import numpy as np

def half(streams, to, a, b, grid, sign):
    out, hidden = branch.run(streams[1 - to], a[to], b[to])
    if grid:
        out = grid * np.round(out / grid)
    streams[to] += sign * out
    return hidden

def forward(x1, x2, a, b, grid=None):
    streams = np.stack([x1, x2])
    if grid:
        streams = grid * np.round(streams / grid)
    for i in range(len(a)):
        for to in (0, 1):
            half(streams, to, a[i], b[i], grid, 1)
    return streams[0], streams[1]

def reconstruct(y1, y2, a, b, grid=None):
    streams = np.stack([y1, y2])
    for i in range(len(a), 0, -1):
        for to in (1, 0):
            half(streams, to, a[i - 1], b[i - 1], grid, -1)
    return tuple(streams)

def backward(grad_y1, grad_y2, y1, y2, a, b, grid=None):
    streams, grads = np.stack([y1, y2]), np.stack([grad_y1, grad_y2])
    grad_a, grad_b = np.empty_like(a), np.empty_like(b)
    for i in range(len(a), 0, -1):
        for to in (1, 0):
            hidden = half(streams, to, a[i - 1], b[i - 1], grid, -1)
            grad_v, grad_a[i - 1, to], grad_b[i - 1, to] = branch.back(
                grads[to], streams[1 - to], hidden, a[i - 1, to], b[i - 1, to]
            )
            grads[1 - to] += grad_v
    return grads[0], grads[1], grad_a, grad_b

# %% float64-inside
"""Everything in float64; what goes out is in the dtype that came in."""

from branch import back, run
import numpy as np

def wide(*arrays):
    return [np.asarray(v, dtype=np.float64) for v in arrays]

def cast(dtype, *arrays):
    return tuple(v.astype(dtype) for v in arrays)

def snap(v, grid):
    return np.round(v / grid) * grid if grid is not None else v

def forward(x1, x2, a, b, grid=None):
    u, v, p, q = wide(x1, x2, a, b)
    u, v = snap(u, grid), snap(v, grid)
    for i in range(p.shape[0]):
        u = u + snap(run(v, p[i, 0], q[i, 0])[0], grid)
        v = v + snap(run(u, p[i, 1], q[i, 1])[0], grid)
    return cast(x1.dtype, u, v)

def undo(u, v, p, q, grid):
    v = v - snap(run(u, p[1], q[1])[0], grid)
    return u - snap(run(v, p[0], q[0])[0], grid), v

def reconstruct(y1, y2, a, b, grid=None):
    u, v, p, q = wide(y1, y2, a, b)
    for i in reversed(range(len(p))):
        u, v = undo(u, v, p[i], q[i], grid)
    return cast(y1.dtype, u, v)

def backward(grad_y1, grad_y2, y1, y2, a, b, grid=None):
    g, h, u, v, p, q = wide(grad_y1, grad_y2, y1, y2, a, b)
    da, db = np.zeros(p.shape), np.zeros(q.shape)
    for i in reversed(range(len(p))):
        after, (u, v) = u, undo(u, v, p[i], q[i], grid)
        d, da[i, 1], db[i, 1] = back(h, after, run(after, p[i, 1], q[i, 1])[1], p[i, 1], q[i, 1])
        g = g + d
        d, da[i, 0], db[i, 0] = back(g, v, run(v, p[i, 0], q[i, 0])[1], p[i, 0], q[i, 0])
        h = h + d
    return cast(y1.dtype, g, h, da, db)

# %% rows-in-pieces
"""Rows do not see each other, so the stack is run and undone for 256 rows at a time."""

import branch
import numpy as np

PIECE = 256

def snapped(v, grid):
    return v if grid is None else (v / grid).round() * grid

def pieces(n):
    return [slice(k, k + PIECE) for k in range(0, n, PIECE)]

def forward(x1, x2, a, b, grid=None):
    y1, y2 = np.empty_like(x1), np.empty_like(x2)
    for rows in pieces(len(x1)):
        u, v = snapped(x1[rows], grid), snapped(x2[rows], grid)
        for i in range(len(a)):
            u = u + snapped(branch.run(v, a[i, 0], b[i, 0])[0], grid)
            v = v + snapped(branch.run(u, a[i, 1], b[i, 1])[0], grid)
        y1[rows], y2[rows] = u, v
    return y1, y2

def reconstruct(y1, y2, a, b, grid=None):
    x1, x2 = np.empty_like(y1), np.empty_like(y2)
    for rows in pieces(len(y1)):
        u, v = y1[rows], y2[rows]
        for i in range(len(a) - 1, -1, -1):
            v = v - snapped(branch.run(u, a[i, 1], b[i, 1])[0], grid)
            u = u - snapped(branch.run(v, a[i, 0], b[i, 0])[0], grid)
        x1[rows], x2[rows] = u, v
    return x1, x2

def backward(grad_y1, grad_y2, y1, y2, a, b, grid=None):
    grad_x1, grad_x2 = np.empty_like(y1), np.empty_like(y2)
    grad_a, grad_b = np.zeros_like(a), np.zeros_like(b)
    for rows in pieces(len(y1)):
        u, v, g, h = y1[rows], y2[rows], grad_y1[rows], grad_y2[rows]
        for i in range(len(a) - 1, -1, -1):
            out, hidden = branch.run(u, a[i, 1], b[i, 1])
            d, da, db = branch.back(h, u, hidden, a[i, 1], b[i, 1])
            v, g = v - snapped(out, grid), g + d
            grad_a[i, 1] += da
            grad_b[i, 1] += db
            out, hidden = branch.run(v, a[i, 0], b[i, 0])
            d, da, db = branch.back(g, v, hidden, a[i, 0], b[i, 0])
            u, h = u - snapped(out, grid), h + d
            grad_a[i, 0] += da
            grad_b[i, 0] += db
        grad_x1[rows], grad_x2[rows] = g, h
    return grad_x1, grad_x2, grad_a, grad_b

# %% closures-and-reduce
"""Each branch is a closure; the stack is a reduction over blocks."""

from functools import partial, reduce

import branch
import numpy as np

def onto(grid):
    return (lambda v: v) if grid is None else (lambda v: np.round(v * (1 / grid)) * grid)

def blocks(a, b, grid):
    snap = onto(grid)

    def adds(w, v):
        return snap(branch.run(v, *w)[0])

    return [tuple(partial(adds, w) for w in zip(p, q)) for p, q in zip(a, b)]

def step(streams, block):
    f, g = block
    y1 = streams[0] + f(streams[1])
    return y1, streams[1] + g(y1)

def back_step(streams, block):
    f, g = block
    x2 = streams[1] - g(streams[0])
    return streams[0] - f(x2), x2

def forward(x1, x2, a, b, grid=None):
    snap = onto(grid)
    return reduce(step, blocks(a, b, grid), (snap(x1), snap(x2)))

def reconstruct(y1, y2, a, b, grid=None):
    return reduce(back_step, blocks(a, b, grid)[::-1], (y1, y2))

def backward(grad_y1, grad_y2, y1, y2, a, b, grid=None):
    grad_a, grad_b = np.zeros_like(a), np.zeros_like(b)

    def pull(i, which, grad, v):
        weights = a[i, which], b[i, which]
        back, *of = branch.back(grad, v, branch.run(v, *weights)[1], *weights)
        grad_a[i, which], grad_b[i, which] = of
        return back

    def one(state, numbered):
        (g1, g2), (y1, y2) = state
        i, block = numbered
        x1, x2 = back_step((y1, y2), block)
        g1 = g1 + pull(i, 1, g2, y1)
        return (g1, g2 + pull(i, 0, g1, x2)), (x1, x2)

    every = list(enumerate(blocks(a, b, grid)))[::-1]
    (g1, g2), _ = reduce(one, every, ((grad_y1, grad_y2), (y1, y2)))
    return g1, g2, grad_a, grad_b

# %% segments-of-eight
"""Eight blocks are undone at once, and then gone through; nothing grows with the depth."""

import branch
import numpy as np

def on(v, grid):
    return np.asarray(np.round(v / grid) * grid, v.dtype) if grid is not None else v

def forward(x1, x2, a, b, grid=None):
    x1, x2 = on(x1, grid), on(x2, grid)
    for i in range(len(a)):
        x1 = x1 + on(branch.run(x2, a[i][0], b[i][0])[0], grid)
        x2 = x2 + on(branch.run(x1, a[i][1], b[i][1])[0], grid)
    return [x1, x2]

def undone(y1, y2, a, b, grid):
    found = []
    for i in range(len(a) - 1, -1, -1):
        x2 = y2 - on(branch.run(y1, a[i][1], b[i][1])[0], grid)
        x1 = y1 - on(branch.run(x2, a[i][0], b[i][0])[0], grid)
        found.append((x1, x2, y1))
        y1, y2 = x1, x2
    return found

def reconstruct(y1, y2, a, b, grid=None):
    for last in range(len(a), 0, -8):
        first = max(0, last - 8)
        y1, y2, _ = undone(y1, y2, a[first:last], b[first:last], grid)[-1]
    return [y1, y2]

def backward(grad_y1, grad_y2, y1, y2, a, b, grid=None):
    grad_a, grad_b = np.zeros_like(a), np.zeros_like(b)
    for last in range(len(a), 0, -8):
        first = max(0, last - 8)
        for k, (x1, x2, out) in enumerate(undone(y1, y2, a[first:last], b[first:last], grid), 1):
            i = last - k
            hidden = branch.run(out, a[i, 1], b[i, 1])[1]
            grad, grad_a[i, 1], grad_b[i, 1] = branch.back(grad_y2, out, hidden, a[i, 1], b[i, 1])
            grad_y1 = grad_y1 + grad
            hidden = branch.run(x2, a[i, 0], b[i, 0])[1]
            grad, grad_a[i, 0], grad_b[i, 0] = branch.back(grad_y1, x2, hidden, a[i, 0], b[i, 0])
            grad_y2 = grad_y2 + grad
        y1, y2 = x1, x2
    return [grad_y1, grad_y2, grad_a, grad_b]

# %% a-list-of-all-streams
# part: 1
"""Everything is undone first, and kept; in part 1 nobody asks for less."""

import branch
import numpy as np

def forward(x1, x2, a, b):
    for (f, g), (p, q) in zip(a, b):
        x1 = x1 + branch.run(x2, f, p)[0]
        x2 = x2 + branch.run(x1, g, q)[0]
    return x1, x2

def every(y1, y2, a, b):
    found = [(y1, y2)]
    for (f, g), (p, q) in zip(a[::-1], b[::-1]):
        y1, y2 = found[-1]
        x2 = y2 - branch.run(y1, g, q)[0]
        found.append((y1 - branch.run(x2, f, p)[0], x2))
    return found[::-1]

def reconstruct(y1, y2, a, b):
    return every(y1, y2, a, b)[0]

def backward(grad_y1, grad_y2, y1, y2, a, b):
    streams = every(y1, y2, a, b)
    grad_a, grad_b = np.zeros(a.shape), np.zeros(b.shape)
    for i in reversed(range(len(a))):
        (_, x2), (out, _) = streams[i], streams[i + 1]
        hidden = np.tanh(out @ a[i, 1])
        back, grad_a[i, 1], grad_b[i, 1] = branch.back(grad_y2, out, hidden, a[i, 1], b[i, 1])
        grad_y1 = grad_y1 + back
        hidden = np.tanh(x2 @ a[i, 0])
        back, grad_a[i, 0], grad_b[i, 0] = branch.back(grad_y1, x2, hidden, a[i, 0], b[i, 0])
        grad_y2 = grad_y2 + back
    return grad_y1, grad_y2, grad_a, grad_b
