"""One pass per cell of the kernel over all windows at once; a later cell has to be greater."""

import numpy as np


class _Pool:
    def __init__(self, shape, kernel, stride, padding):
        self.shape, self.kernel, self.stride, self.padding = shape, kernel, stride, padding
        self.down = (shape[2] + 2 * padding - kernel) // stride + 1
        self.across = (shape[3] + 2 * padding - kernel) // stride + 1

    def cells(self):
        """Yield, per cell of the kernel, its place, the plane's rows and columns, and who has them."""
        for a in range(self.kernel):
            rows = np.arange(self.down) * self.stride - self.padding + a
            for b in range(self.kernel):
                cols = np.arange(self.across) * self.stride - self.padding + b
                real = np.logical_and.outer(
                    (rows >= 0) & (rows < self.shape[2]), (cols >= 0) & (cols < self.shape[3])
                )
                if real.any():
                    rows_in, cols_in = (
                        rows.clip(0, self.shape[2] - 1),
                        cols.clip(0, self.shape[3] - 1),
                    )
                    yield a * self.kernel + b, rows_in, cols_in, real


def maxpool2d_forward(x, kernel, stride, padding=0):
    pool = _Pool(x.shape, kernel, stride, padding)
    size = (*x.shape[:2], pool.down, pool.across)
    y = np.full(size, -np.inf, x.dtype)
    place = np.zeros(size, np.min_scalar_type(kernel * kernel - 1))
    empty = np.ones(size, bool)
    for cell, rows, cols, real in pool.cells():
        seen = x[:, :, rows[:, None], cols]
        better = real & (empty | (seen > y))
        y = np.where(better, seen, y)
        place[better] = cell
        empty &= ~better
    return y, (place, pool, x.dtype)


def maxpool2d_backward(grad_y, ctx):
    place, pool, dtype = ctx
    n, c, h, w = pool.shape
    grad_x = np.zeros((n * c, h * w), dtype)
    flat = np.zeros((n * c, pool.down * pool.across), np.int64)
    for cell, rows, cols, _ in pool.cells():
        won = (place == cell).reshape(flat.shape)
        flat += won * (rows[:, None] * w + cols).ravel()
    for plane, at, grad in zip(grad_x, flat, grad_y.reshape(flat.shape), strict=True):
        np.add.at(plane, at, grad)
    return grad_x.reshape(n, c, h, w)
