# %% maximum_per_lane
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


# %% padded_rows
"""Rows of y lie a whole number of tiles apart; the sum of the shares lies behind them."""

from functools import partial

import numpy as np
from tile import Memory


def softmax_kernel(t, row, x, y, n, pitch, block):
    cols = np.arange(block)
    inside = cols < n
    v = t.load(x, row * n + cols, mask=inside, other=-np.inf)
    v = v.astype(np.float32)
    e = np.exp(v - v.max())
    t.store(y, row * pitch + cols, e / e.sum(), mask=inside)


def long_softmax_kernel(t, row, x, y, n, pitch, block):
    top, total = np.float32(-np.inf), np.float32(0)
    for start in range(0, n, block):
        cols = np.arange(start, min(start + block, n))
        v = t.load(x, row * n + cols).astype(np.float32)
        new = np.maximum(top, v.max())
        base = np.float32(0) if np.isneginf(new) else new
        total = total * np.exp(top - base) + np.exp(v - base).sum()
        top = new
    for start in range(0, n, block):
        cols = np.arange(start, min(start + block, n))
        v = t.load(x, row * n + cols).astype(np.float32)
        t.store(y, row * pitch + cols, np.exp(v - top) / total)


def rmsnorm_kernel(t, row, x, gamma, y, n, pitch, eps, block, rstd=None):
    cols = np.arange(block)
    inside = cols < n
    v = t.load(x, row * n + cols, mask=inside)
    v = v.astype(np.float32)
    scale = 1 / np.sqrt((v * v).sum() / n + eps)
    if rstd is not None:
        t.store(rstd, [row], scale)
    w = t.load(gamma, cols, mask=inside)
    t.store(y, row * pitch + cols, v * scale * w, mask=inside)


def long_rmsnorm_kernel(t, row, x, gamma, y, n, pitch, eps, block, rstd=None):
    total = np.float32(0)
    for start in range(0, n, block):
        cols = np.arange(start, min(start + block, n))
        v = t.load(x, row * n + cols).astype(np.float32)
        total += (v * v).sum()
    scale = 1 / np.sqrt(total / n + eps)
    if rstd is not None:
        t.store(rstd, [row], scale)
    for start in range(0, n, block):
        cols = np.arange(start, min(start + block, n))
        v = t.load(x, row * n + cols).astype(np.float32)
        t.store(y, row * pitch + cols, v * scale * t.load(gamma, cols))


def softmax(t, x, block):
    """Return the softmax along the rows of x, (rows, n)."""
    rows, n = x.shape
    pitch = -(-n // block) * block
    y = t.empty(rows * pitch, x.dtype)
    kernel = softmax_kernel if n <= block else long_softmax_kernel
    t.launch(kernel, rows, Memory(x), y, n, pitch, block)
    return y.array.reshape(rows, pitch)[:, :n]


def rmsnorm(t, x, gamma, eps, block, train=False):
    """Return x / sqrt(mean(x * x) + eps) * gamma, a mean along each row."""
    rows, n = x.shape
    pitch = -(-n // block) * block
    y = t.empty(rows * pitch, x.dtype)
    kernel = rmsnorm_kernel if n <= block else long_rmsnorm_kernel
    rstd = t.empty(rows, np.float32) if train else None
    kernel = partial(kernel, rstd=rstd)
    t.launch(kernel, rows, Memory(x), Memory(gamma), y, n, pitch, eps, block)
    return y.array.reshape(rows, pitch)[:, :n], rstd.array if train else None


def backward_kernel(t, program, x, gamma, rstd, grad_y, grad_x, parts, rows, n, block, programs):
    tiles = [start + np.arange(block) for start in range(0, n, block)]
    shares = np.zeros((len(tiles), block), np.float32)
    for row in range(program, rows, programs):
        scale, dot = t.load(rstd, [row])[0], np.float32(0)
        for again in (False, True):
            for cols, share in zip(tiles, shares, strict=True):
                at, inside = row * n + cols, cols < n
                h = t.load(x, at, mask=inside).astype(np.float32) * scale
                d = t.load(grad_y, at, mask=inside).astype(np.float32)
                w = t.load(gamma, cols, mask=inside).astype(np.float32)
                if again:
                    t.store(grad_x, at, scale * (d * w - h * dot / n), mask=inside)
                else:
                    share += d * h
                    dot += (d * w * h).sum()
    for cols, share in zip(tiles, shares, strict=True):
        t.store(parts, program * n + cols, share, mask=cols < n)


def add_kernel(t, program, parts, programs, n, block):
    cols = program * block + np.arange(block)
    found = sum(t.load(parts, i * n + cols, mask=cols < n) for i in range(programs))
    t.store(parts, programs * n + cols, found, mask=cols < n)


def rmsnorm_backward(t, x, gamma, rstd, grad_y, block, programs):
    """Return grad_x like x, and grad_gamma (n,) in float32."""
    rows, n = x.shape
    grad_x = t.empty(x.size, x.dtype)
    parts = t.empty((programs + 1) * n, np.float32)
    given = [Memory(array) for array in (x, gamma, rstd, grad_y)]
    t.launch(backward_kernel, programs, *given, grad_x, parts, rows, n, block, programs)
    t.launch(add_kernel, -(-n // block), parts, programs, n, block)
    return grad_x.array.reshape(rows, n), parts.array[programs * n :].copy()


# %% repaired_starter
"""The starter with its repair."""

from functools import partial

import numpy as np
from tile import Memory


def softmax_kernel(t, row, x, y, n, block):
    cols = np.arange(block)
    inside = cols < n
    v = t.load(x, row * n + cols, mask=inside, other=-np.inf)
    v = v.astype(np.float32)
    e = np.exp(v - v.max())
    t.store(y, row * n + cols, e / e.sum(), mask=inside)


def long_softmax_kernel(t, row, x, y, n, block):
    top, total = np.float32(-np.inf), np.float32(0)
    for start in range(0, n, block):
        cols = np.arange(start, min(start + block, n))
        v = t.load(x, row * n + cols).astype(np.float32)
        new = np.maximum(top, v.max())
        base = np.float32(0) if np.isneginf(new) else new
        total = total * np.exp(top - base) + np.exp(v - base).sum()
        top = new
    for start in range(0, n, block):
        cols = np.arange(start, min(start + block, n))
        v = t.load(x, row * n + cols).astype(np.float32)
        t.store(y, row * n + cols, np.exp(v - top) / total)


def rmsnorm_kernel(t, row, x, gamma, y, n, eps, block, rstd=None):
    cols = np.arange(block)
    inside = cols < n
    v = t.load(x, row * n + cols, mask=inside)
    v = v.astype(np.float32)
    scale = 1 / np.sqrt((v * v).sum() / n + eps)
    if rstd is not None:
        t.store(rstd, [row], scale)
    w = t.load(gamma, cols, mask=inside)
    t.store(y, row * n + cols, v * scale * w, mask=inside)


def long_rmsnorm_kernel(t, row, x, gamma, y, n, eps, block, rstd=None):
    total = np.float32(0)
    for start in range(0, n, block):
        cols = np.arange(start, min(start + block, n))
        v = t.load(x, row * n + cols).astype(np.float32)
        total += (v * v).sum()
    scale = 1 / np.sqrt(total / n + eps)
    if rstd is not None:
        t.store(rstd, [row], scale)
    for start in range(0, n, block):
        cols = np.arange(start, min(start + block, n))
        v = t.load(x, row * n + cols).astype(np.float32)
        t.store(y, row * n + cols, v * scale * t.load(gamma, cols))


def softmax(t, x, block):
    """Return the softmax along the rows of x, (rows, n)."""
    rows, n = x.shape
    y = t.empty(x.size, x.dtype)
    kernel = softmax_kernel if n <= block else long_softmax_kernel
    t.launch(kernel, rows, Memory(x), y, n, block)
    return y.array.reshape(rows, n)


def rmsnorm(t, x, gamma, eps, block, train=False):
    """Return x / sqrt(mean(x * x) + eps) * gamma, a mean along each row."""
    rows, n = x.shape
    y = t.empty(x.size, x.dtype)
    kernel = rmsnorm_kernel if n <= block else long_rmsnorm_kernel
    rstd = t.empty(rows, np.float32) if train else None
    kernel = partial(kernel, rstd=rstd)
    t.launch(kernel, rows, Memory(x), Memory(gamma), y, n, eps, block)
    return y.array.reshape(rows, n), rstd.array if train else None


def backward_kernel(t, program, x, gamma, rstd, grad_y, grad_x, parts, rows, n, block, programs):
    tiles = [start + np.arange(block) for start in range(0, n, block)]
    shares = np.zeros((len(tiles), block), np.float32)
    for row in range(program, rows, programs):
        scale, dot = t.load(rstd, [row])[0], np.float32(0)
        for again in (False, True):
            for cols, share in zip(tiles, shares, strict=True):
                at, inside = row * n + cols, cols < n
                h = t.load(x, at, mask=inside).astype(np.float32) * scale
                d = t.load(grad_y, at, mask=inside).astype(np.float32)
                w = t.load(gamma, cols, mask=inside).astype(np.float32)
                if again:
                    t.store(grad_x, at, scale * (d * w - h * dot / n), mask=inside)
                else:
                    share += d * h
                    dot += (d * w * h).sum()
    for cols, share in zip(tiles, shares, strict=True):
        t.store(parts, program * n + cols, share, mask=cols < n)


def add_kernel(t, program, parts, total, programs, n, block):
    cols = program * block + np.arange(block)
    found = sum(t.load(parts, i * n + cols, mask=cols < n) for i in range(programs))
    t.store(total, cols, found, mask=cols < n)


def rmsnorm_backward(t, x, gamma, rstd, grad_y, block, programs):
    """Return grad_x like x, and grad_gamma (n,) in float32."""
    rows, n = x.shape
    grad_x, grad_gamma = t.empty(x.size, x.dtype), t.empty(n, np.float32)
    parts = t.empty(programs * n, np.float32)
    given = [Memory(array) for array in (x, gamma, rstd, grad_y)]
    t.launch(backward_kernel, programs, *given, grad_x, parts, rows, n, block, programs)
    t.launch(add_kernel, -(-n // block), parts, grad_gamma, programs, n, block)
    return grad_x.array.reshape(rows, n), grad_gamma.array


# %% style_a
"""Style: that of maximum_of_the_first_tile and others, repaired."""

import numpy as np
from tile import Memory


def tiles(n, block):
    for start in range(0, n, block):
        cols = start + np.arange(block)
        yield cols, cols < n


def softmax_kernel(t, row, x, y, n, block):
    base = row * n
    top, total = np.float32(-np.inf), np.float32(0)
    v = None
    for cols, inside in tiles(n, block):
        v = t.load(x, base + cols, mask=inside, other=-np.inf).astype(np.float32)
        peak = max(top, v.max())
        if peak == -np.inf:
            continue
        total = total * np.exp(top - peak) + np.exp(v - peak).sum()
        top = peak
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
