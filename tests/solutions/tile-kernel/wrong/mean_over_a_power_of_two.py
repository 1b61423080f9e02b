"""Wrong: the mean square is over the next power of two of the row."""
# named: mean-over-the-tile

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
    width = min(block, 2 ** int(np.ceil(np.log2(n))))
    scale = np.reciprocal(np.sqrt(s / (-(-n // width) * width) + eps))
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
