"""Row softmax and RMSNorm as tile kernels: a program and a tile per row."""

import numpy as np
from tile import Memory


def softmax_kernel(t, row, x, y, n, block):
    cols = np.arange(block)
    inside = cols < n
    v = t.load(x, row * n + cols, mask=inside)
    e = np.exp(v - v.max())
    t.store(y, row * n + cols, e / e.sum(), mask=inside)


def rmsnorm_kernel(t, row, x, gamma, y, n, eps, block):
    cols = np.arange(block)
    inside = cols < n
    v = t.load(x, row * n + cols, mask=inside)
    scale = 1 / np.sqrt((v * v).sum() / n + eps)
    w = t.load(gamma, cols, mask=inside)
    t.store(y, row * n + cols, v * scale * w, mask=inside)


def softmax(t, x, block):
    """Return the softmax along the rows of x, (rows, n)."""
    rows, n = x.shape
    y = t.empty(x.size, x.dtype)
    t.launch(softmax_kernel, rows, Memory(x), y, n, block)
    return y.array.reshape(rows, n)


def rmsnorm(t, x, gamma, eps, block):
    """Return x / sqrt(mean(x * x) + eps) * gamma, a mean along each row."""
    rows, n = x.shape
    y = t.empty(x.size, x.dtype)
    t.launch(rmsnorm_kernel, rows, Memory(x), Memory(gamma), y, n, eps, block)
    return y.array.reshape(rows, n)
