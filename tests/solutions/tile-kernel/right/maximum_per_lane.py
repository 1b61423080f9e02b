"""A maximum and a sum per lane of the tile, merged at the end of the row."""

import numpy as np
from tile import Memory


def tiles(n, block):
    for start in range(0, n, block):
        cols = start + np.arange(block)
        yield cols, cols < n


def softmax_kernel(t, row, x, y, n, block):
    base = row * n
    m = np.full(block, -np.inf, np.float32)
    s = np.zeros(block, np.float32)
    for cols, inside in tiles(n, block):
        v = t.load(x, base + cols, mask=inside, other=-np.inf).astype(np.float32)
        new = np.maximum(m, v)
        safe = np.where(new == -np.inf, np.float32(0), new)
        s = s * np.exp(m - safe) + np.exp(v - safe)
        m = new
    top = m.max()
    total = (s * np.exp(m - top)).sum()
    for cols, inside in tiles(n, block):
        if n > block:
            v = t.load(x, base + cols, mask=inside, other=-np.inf).astype(np.float32)
        t.store(y, base + cols, np.exp(v - top) / total, mask=inside)


def rmsnorm_kernel(t, row, x, gamma, y, rstd, n, eps, block):
    base = row * n
    total = np.float32(0)
    for cols, inside in tiles(n, block):
        v = t.load(x, base + cols, mask=inside).astype(np.float32)
        total = total + (v * v).sum()
    scale = np.float32(1 / np.sqrt(total / n + eps))
    if rstd is not None:
        t.store(rstd, np.array([row]), scale)
    for cols, inside in tiles(n, block):
        if n > block:
            v = t.load(x, base + cols, mask=inside).astype(np.float32)
        w = t.load(gamma, cols, mask=inside).astype(np.float32)
        t.store(y, base + cols, v * scale * w, mask=inside)


def softmax(t, x, block):
    rows, n = x.shape
    y = t.empty(x.size, x.dtype)
    t.launch(softmax_kernel, rows, Memory(x), y, n, block)
    return y.array.reshape(rows, n)


def rmsnorm(t, x, gamma, eps, block, train=False):
    rows, n = x.shape
    y = t.empty(x.size, x.dtype)
    rstd = t.empty(rows, np.float32) if train else None
    t.launch(rmsnorm_kernel, rows, Memory(x), Memory(gamma), y, rstd, n, eps, block)
    return y.array.reshape(rows, n), (rstd.array if train else None)


def backward_kernel(t, program, programs, x, gamma, rstd, gy, gx, dots, part, rows, n, block):
    mine = range(program * rows // programs, (program + 1) * rows // programs)
    for row in mine:
        r = t.load(rstd, np.array([row]))[0]
        dot = np.float32(0)
        for cols, inside in tiles(n, block):
            v = t.load(x, row * n + cols, mask=inside).astype(np.float32)
            g = t.load(gy, row * n + cols, mask=inside).astype(np.float32)
            w = t.load(gamma, cols, mask=inside).astype(np.float32)
            dot = dot + (v * r * g * w).sum()
        t.store(dots, np.array([row]), dot / n)
    for cols, inside in tiles(n, block):
        w = t.load(gamma, cols, mask=inside).astype(np.float32)
        acc = np.zeros(block, np.float32)
        for row in mine:
            r = t.load(rstd, np.array([row]))[0]
            dot = t.load(dots, np.array([row]))[0]
            v = t.load(x, row * n + cols, mask=inside).astype(np.float32) * r
            g = t.load(gy, row * n + cols, mask=inside).astype(np.float32)
            acc += g * v
            t.store(gx, row * n + cols, r * (g * w - v * dot), mask=inside)
        t.store(part, program * n + cols, acc, mask=inside)


def gather_kernel(t, tile, part, out, programs, n, block):
    cols = tile * block + np.arange(block)
    inside = cols < n
    acc = np.zeros(block, np.float32)
    for p in range(programs):
        acc += t.load(part, p * n + cols, mask=inside)
    t.store(out, cols, acc, mask=inside)


def rmsnorm_backward(t, x, gamma, rstd, grad_y, block, programs):
    rows, n = x.shape
    gx = t.empty(x.size, x.dtype)
    dots = t.empty(rows, np.float32)
    part = t.empty(programs * n, np.float32)
    out = t.empty(n, np.float32)
    t.launch(backward_kernel, programs, programs, Memory(x), Memory(gamma), Memory(rstd),
             Memory(grad_y), gx, dots, part, rows, n, block)
    t.launch(gather_kernel, -(-n // block), part, out, programs, n, block)
    return gx.array.reshape(rows, n), out.array
