# %% bytes_ctx
"""The ctx is a dict whose winners are plain bytes, no more per output than a place needs."""

import numpy as np


def maxpool2d_forward(x, kernel, stride, padding=0):
    n, c, h, w = x.shape
    ho = (h + 2 * padding - kernel) // stride + 1
    wo = (w + 2 * padding - kernel) // stride + 1
    y = np.empty((n, c, ho, wo), x.dtype)
    kind = "<u1" if kernel <= 16 else "<u2" if kernel <= 256 else "<u4"
    index = np.empty((n, c, ho, wo), kind)
    columns = np.arange(w)
    for i in range(ho):
        top = i * stride - padding
        band = x[:, :, max(top, 0) : top + kernel]
        for j in range(wo):
            left = j * stride - padding
            inside = (columns >= left) & (columns < left + kernel)
            window = band[..., inside]
            height, width = window.shape[2:]
            flat = window.reshape(n, c, height * width)
            k = np.argmax(flat, axis=2)
            y[:, :, i, j] = np.max(flat, axis=2)
            down, across = k // width + max(-top, 0), k % width + max(-left, 0)
            index[:, :, i, j] = down * kernel + across
    return y, {"index": (kind, index.tobytes()), "plane": (h, w, kernel, stride, padding)}


def maxpool2d_backward(grad_y, ctx):
    h, w, kernel, stride, padding = ctx["plane"]
    n, c, ho, wo = grad_y.shape
    kind, index = ctx["index"]
    down, across = np.divmod(np.frombuffer(index, kind).reshape(grad_y.shape).astype(int), kernel)
    down += stride * np.arange(ho).reshape(ho, 1) - padding
    across += stride * np.arange(wo) - padding
    out = np.zeros((n, c, h, w), grad_y.dtype)
    for b in range(n):
        for ch in range(c):
            np.add.at(out[b, ch], (down[b, ch], across[b, ch]), grad_y[b, ch])
    return out


# %% chatty
"""Prints a lot to stdout and stderr, and has a demonstration under a __main__ guard."""

import sys

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

print("loading", "." * 500)


def maxpool2d_forward(x, kernel, stride, padding=0):
    print("forward", x.shape, x.dtype, kernel, stride, padding, flush=True)
    print("x starts with", x.ravel()[:5], file=sys.stderr)
    frame = np.pad(
        x, ((0, 0), (0, 0), (padding, padding), (padding, padding)), constant_values=-np.inf
    )
    view = sliding_window_view(frame, (kernel, kernel), axis=(2, 3))[:, :, ::stride, ::stride]
    flat = view.reshape(*view.shape[:4], kernel * kernel)
    local = flat.argmax(axis=-1)
    print("winners", local.size, "\n" * 20)
    index = local.astype(np.min_scalar_type(kernel * kernel - 1))
    window = {"kernel": kernel, "stride": stride, "padding": padding}
    return flat.max(axis=-1), {"index": index, "shape": x.shape, "dtype": x.dtype, **window}


def maxpool2d_backward(grad_y, ctx):
    n, c, h, w = ctx["shape"]
    out = np.zeros((n * c, h * w), ctx["dtype"])
    kernel, stride, padding = ctx["kernel"], ctx["stride"], ctx["padding"]
    rows = ctx["index"] // kernel + stride * np.arange(grad_y.shape[2])[:, None]
    columns = ctx["index"] % kernel + stride * np.arange(grad_y.shape[3])
    index = (np.maximum(rows, padding) - padding) * w + np.maximum(columns, padding) - padding
    index = index.reshape(n * c, grad_y.shape[2] * grad_y.shape[3])
    planes = np.arange(n * c)[:, None]
    np.add.at(out, (planes, index), grad_y.reshape(index.shape))
    for line in range(50):
        print("backward", line, repr(ctx)[:200])
    return out.reshape(n, c, h, w)


if __name__ == "__main__":
    demo = np.random.default_rng(0).normal(size=(1, 1, 4, 4))
    result, state = maxpool2d_forward(demo, 2, 2)
    print(result, maxpool2d_backward(np.ones_like(result), state))
    raise SystemExit("demonstration over")


# %% clipped_windows
"""A loop over output positions, vectorised over planes; windows are clipped, nothing is padded."""

import numpy as np


def _spans(size, outputs, kernel, stride, padding):
    for i in range(outputs):
        start = i * stride - padding
        yield i, max(start, 0), min(start + kernel, size)


def maxpool2d_forward(x, kernel, stride, padding=0):
    n, c, h, w = x.shape
    ho = (h + 2 * padding - kernel) // stride + 1
    wo = (w + 2 * padding - kernel) // stride + 1
    y = np.empty((n, c, ho, wo), x.dtype)
    # Bounds at the plane's edges can be worked out again: only the place in what is left is kept.
    places = np.empty((n, c, ho, wo), np.min_scalar_type(kernel * kernel - 1))
    for i, top, bottom in _spans(h, ho, kernel, stride, padding):
        for j, left, right in _spans(w, wo, kernel, stride, padding):
            window = x[:, :, top:bottom, left:right].reshape(n, c, (bottom - top) * (right - left))
            y[:, :, i, j] = window.max(axis=-1)
            places[:, :, i, j] = window.argmax(axis=-1)
    return y, (places, x.shape, kernel, stride, padding)


def maxpool2d_backward(grad_y, ctx):
    places, shape, *window = ctx
    grad_x = np.zeros(shape, grad_y.dtype)
    b, ch = np.ogrid[: shape[0], : shape[1]]
    for i, top, _ in _spans(shape[2], grad_y.shape[2], *window):
        for j, left, right in _spans(shape[3], grad_y.shape[3], *window):
            r, q = np.divmod(places[:, :, i, j].astype(np.intp), right - left)
            # Within one output position every plane is named once, so += is safe here.
            grad_x[b, ch, top + r, left + q] += grad_y[:, :, i, j]
    return grad_x


# %% dataclass_ctx
"""A dataclass as ctx, whose methods turn row and column into one small number and back."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np


@dataclass
class PoolState:
    shape: tuple[int, ...]
    dtype: np.dtype
    kernel: int
    stride: int
    padding: int
    place: np.ndarray = field(repr=False)

    def put(self, at: tuple[int, ...], row: int, column: int) -> None:
        self.place[at] = (row - self._top(at)) * self.kernel + column - self._left(at)

    def get(self, at: tuple[int, ...]) -> tuple[int, int]:
        row, column = divmod(int(self.place[at]), self.kernel)
        return row + self._top(at), column + self._left(at)

    def _top(self, at: tuple[int, ...]) -> int:
        return at[2] * self.stride - self.padding

    def _left(self, at: tuple[int, ...]) -> int:
        return at[3] * self.stride - self.padding


def maxpool2d_forward(x, kernel, stride, padding=0):
    n, c, h, w = x.shape
    ho = (h + 2 * padding - kernel) // stride + 1
    wo = (w + 2 * padding - kernel) // stride + 1
    y = np.zeros((n, c, ho, wo), x.dtype)
    place = np.zeros((n, c, ho, wo), np.min_scalar_type(kernel * kernel - 1))
    state = PoolState(x.shape, x.dtype, kernel, stride, padding, place)
    for i, j in np.ndindex(ho, wo):
        top, left = max(i * stride - padding, 0), max(j * stride - padding, 0)
        bottom = min(i * stride - padding + kernel, h)
        right = min(j * stride - padding + kernel, w)
        for b, ch in np.ndindex(n, c):
            window = x[b, ch, top:bottom, left:right]
            r, q = np.unravel_index(window.argmax(), window.shape)
            y[b, ch, i, j] = window[r, q]
            state.put((b, ch, i, j), top + r, left + q)
    return y, state


def maxpool2d_backward(grad_y, ctx):
    grad_x = np.zeros(ctx.shape, ctx.dtype)
    for place in np.ndindex(*grad_y.shape):
        grad_x[(*place[:2], *ctx.get(place))] += grad_y[place]
    return grad_x


# %% float64_inside
"""Everything is computed in float64 and cast back to the dtype of x at the end."""

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view


def maxpool2d_forward(x, kernel, stride, padding=0):
    n, c, h, w = x.shape
    frame = np.full((n, c, h + 2 * padding, w + 2 * padding), -np.inf)
    frame[:, :, padding : padding + h, padding : padding + w] = x.astype(np.float64)
    view = sliding_window_view(frame, (kernel, kernel), axis=(2, 3))[:, :, ::stride, ::stride]
    cells = view.reshape(*view.shape[:4], kernel * kernel)
    local = cells.argmax(axis=-1)
    local = local.astype(np.min_scalar_type(kernel * kernel - 1))
    ctx = dict(local=local, like=(x.shape, x.dtype), window=(kernel, stride, padding))
    return cells.max(axis=-1).astype(x.dtype), ctx


def maxpool2d_backward(grad_y, ctx):
    (n, c, h, w), dtype = ctx["like"]
    (kernel, stride, padding), local = ctx["window"], ctx["local"]
    rows = np.maximum(local // kernel + stride * np.arange(local.shape[2])[:, None] - padding, 0)
    columns = np.maximum(local % kernel + stride * np.arange(local.shape[3]) - padding, 0)
    at = rows * w + columns
    total = np.zeros((n, c, h * w), np.float64)
    for b, ch in np.ndindex(n, c):
        total[b, ch] += np.bincount(
            at[b, ch].ravel(),
            weights=grad_y[b, ch].ravel().astype(np.float64),
            minlength=h * w,
        )
    return total.reshape(n, c, h, w).astype(dtype)


# %% four_coordinates
"""np.add.at with four index arrays, of which backward makes two from the place in the window."""

import numpy as np


def maxpool2d_forward(x, kernel, stride, padding=0):
    n, c, h, w = x.shape
    down = (h + 2 * padding - kernel) // stride + 1
    across = (w + 2 * padding - kernel) // stride + 1
    y = np.empty((n, c, down, across), x.dtype)
    where = np.zeros((n, c, down, across), np.min_scalar_type(kernel * kernel - 1))
    for i in range(down):
        top, bottom = max(i * stride - padding, 0), min(i * stride - padding + kernel, h)
        for j in range(across):
            left, right = max(j * stride - padding, 0), min(j * stride - padding + kernel, w)
            window = x[:, :, top:bottom, left:right].reshape(n, c, (bottom - top) * (right - left))
            first = window.argmax(axis=2)
            y[:, :, i, j] = np.take_along_axis(window, first[:, :, None], axis=2)[:, :, 0]
            row = top + first // (right - left) - (i * stride - padding)
            column = left + first % (right - left) - (j * stride - padding)
            where[:, :, i, j] = np.ravel_multi_index((row, column), (kernel, kernel))
    return y, {"where": where, "like": (x.shape, x.dtype.str), "window": (kernel, stride, padding)}


def maxpool2d_backward(grad_y, ctx):
    shape, dtype = ctx["like"]
    grad_x = np.zeros(shape, np.dtype(dtype))
    image, channel = np.ogrid[: shape[0], : shape[1]]
    kernel, stride, padding = ctx["window"]
    row, column = np.unravel_index(ctx["where"].astype(np.intp), (kernel, kernel))
    row = row + stride * np.arange(grad_y.shape[2])[:, None] - padding
    column = column + stride * np.arange(grad_y.shape[3]) - padding
    np.add.at(grad_x, (image[..., None, None], channel[..., None, None], row, column), grad_y)
    return grad_x


# %% im2col_columns
"""Windows as the columns of one matrix, as image courses teach it: one column per output."""

import numpy as np


def _indices(shape, kernel, stride, padding):
    _, _, h, w = shape
    down = (h + 2 * padding - kernel) // stride + 1
    across = (w + 2 * padding - kernel) // stride + 1
    rows = np.repeat(np.arange(kernel), kernel)[:, None] + stride * np.repeat(
        np.arange(down), across
    )
    cols = np.tile(np.arange(kernel), kernel)[:, None] + stride * np.tile(np.arange(across), down)
    return rows, cols, down, across


def maxpool2d_forward(x, kernel, stride, padding=0):
    n, c, h, w = x.shape
    rows, cols, down, across = _indices(x.shape, kernel, stride, padding)
    inside = (rows >= padding) & (rows < padding + h) & (cols >= padding) & (cols < padding + w)
    flat = np.where(inside, (rows - padding) * w + cols - padding, 0)
    columns = np.where(inside, x.reshape(n, c, h * w)[:, :, flat], -np.inf).astype(x.dtype)
    # Padding ties with minus infinity: among what is as large as the maximum, an entry comes first.
    largest = columns.max(axis=2, keepdims=True)
    winner = ((columns == largest) & inside).argmax(axis=2)
    y = largest[:, :, 0].reshape(n, c, down, across)
    winner = winner.astype(np.min_scalar_type(kernel * kernel - 1))
    return y, (winner, x.shape, x.dtype, kernel, stride, padding)


def maxpool2d_backward(grad_y, ctx):
    winner, shape, dtype, kernel, stride, padding = ctx
    n, c, h, w = shape
    rows, cols, _, _ = _indices(shape, kernel, stride, padding)
    flat = (rows - padding) * w + cols - padding
    place = flat[winner, np.arange(flat.shape[1])]
    grad_x = np.zeros((n, c, h * w), dtype)
    gradients = grad_y.reshape(n, c, place.shape[2])
    for output in range(place.shape[2]):  # of one output no plane is named twice
        at = place[:, :, output, None]
        before = np.take_along_axis(grad_x, at, axis=2)
        np.put_along_axis(grad_x, at, before + gradients[:, :, output, None], axis=2)
    return grad_x.reshape(shape)


# %% offsets_with_a_strict_comparison
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


# %% own_copies_in_place
"""Works in place, on copies of its own, which are cleared as soon as they have been read."""

import numpy as np


def maxpool2d_forward(x, kernel, stride, padding=0):
    x = np.array(x, order="C", copy=True)
    n, c, h, w = x.shape
    planes = x.reshape(n * c, h, w)
    ho = (h + 2 * padding - kernel) // stride + 1
    wo = (w + 2 * padding - kernel) // stride + 1
    y = np.empty((n * c, ho, wo), x.dtype)
    index = np.empty((n * c, ho, wo), np.min_scalar_type(kernel * kernel - 1))
    grid = np.arange(h)[:, None] * kernel + np.arange(w)  # rows as long as those of a window
    for i in range(ho):
        for j in range(wo):
            top, left = i * stride - padding, j * stride - padding
            window = np.s_[max(top, 0) : top + kernel, max(left, 0) : left + kernel]
            names = (grid[window] - top * kernel - left).ravel()
            values = planes[(slice(None), *window)].reshape(n * c, names.size)
            local = values.argmax(axis=1)
            y[:, i, j] = values[np.arange(n * c), local]
            index[:, i, j] = names[local]
    planes[...] = 0  # the copy is scratch, the caller's x is not
    return y.reshape(n, c, ho, wo), (index, (n, c, h, w), x.dtype, (kernel, stride, padding))


def maxpool2d_backward(grad_y, ctx):
    index, shape, dtype, (kernel, stride, padding) = ctx
    down, across = np.divmod(index.astype(np.int64), kernel)
    down += stride * np.arange(index.shape[1])[:, None] - padding
    across += stride * np.arange(index.shape[2]) - padding
    down *= shape[3]
    down += across
    index = down
    gradient = np.array(grad_y, copy=True, order="C")
    out = np.zeros((shape[0] * shape[1], shape[2] * shape[3]), dtype)
    plane = np.arange(len(out))
    flat_index = index.reshape(len(out), gradient.shape[2] * gradient.shape[3])
    flat_gradient = gradient.reshape(flat_index.shape)
    for k in range(flat_index.shape[1]):
        out[plane, flat_index[:, k]] += flat_gradient[:, k]
        flat_gradient[:, k] = 0
    return out.reshape(shape)


# %% partials
"""functools.partial everywhere: for the public functions, and as the ctx itself."""

import functools

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view


def _spread(shape, dtype, local, kernel, stride, padding, grad_y):
    n, c, h, w = shape
    i, j = np.ogrid[: local.shape[2], : local.shape[3]]
    row = np.clip(i * stride - padding + local // kernel, 0, h - 1)
    column = np.clip(j * stride - padding + local % kernel, 0, w - 1)
    plane = np.arange(n * c).reshape(n, c, 1, 1)
    index = (plane * h + row) * w + column
    size = int(np.prod(shape))
    flat = np.zeros(size, dtype)
    np.add.at(flat, index.ravel(), grad_y.ravel())
    return flat.reshape(shape)


def _pool(lowest, x, kernel, stride, padding=0):
    n, c, h, w = x.shape
    wide = np.pad(x, ((0,), (0,), (padding,), (padding,)), constant_values=lowest)
    view = sliding_window_view(wide, (kernel, kernel), axis=(2, 3))[:, :, ::stride, ::stride]
    ho, wo = view.shape[2:4]
    local = view.reshape(n, c, ho, wo, kernel * kernel).argmax(axis=-1)
    local = local.astype(np.min_scalar_type(kernel * kernel - 1))
    kept = functools.partial(_spread, x.shape, x.dtype, local, kernel, stride, padding)
    return view.max(axis=(4, 5)), kept


def _back(grad_y, ctx):
    return ctx(grad_y)


maxpool2d_forward = functools.partial(_pool, -np.inf)
maxpool2d_backward = functools.partial(_back)


# %% plain_loops
"""Plain loops over every window and every entry, nothing vectorised."""

import numpy as np


def maxpool2d_forward(x, kernel, stride, padding=0):
    n, c, h, w = x.shape
    ho = (h + 2 * padding - kernel) // stride + 1
    wo = (w + 2 * padding - kernel) // stride + 1
    y = np.empty((n, c, ho, wo), dtype=x.dtype)
    winners = np.empty((n, c, ho, wo), dtype=np.min_scalar_type(kernel * kernel - 1))
    for b in range(n):
        for ch in range(c):
            for i in range(ho):
                for j in range(wo):
                    best, where = None, (0, 0)
                    for r in range(
                        max(i * stride - padding, 0), min(i * stride - padding + kernel, h)
                    ):
                        for q in range(
                            max(j * stride - padding, 0), min(j * stride - padding + kernel, w)
                        ):
                            value = x[b, ch, r, q]
                            if best is None or value > best:
                                best, where = value, (r, q)
                    y[b, ch, i, j] = best
                    r, q = where
                    winners[b, ch, i, j] = (r - i * stride + padding) * kernel + (
                        q - j * stride + padding
                    )
    return y, {"winners": winners, "shape": x.shape, "window": (kernel, stride, padding)}


def maxpool2d_backward(grad_y, ctx):
    n, c, h, w = ctx["shape"]
    kernel, stride, padding = ctx["window"]
    grad_x = np.zeros((n, c, h, w), dtype=grad_y.dtype)
    _, _, ho, wo = grad_y.shape
    for b in range(n):
        for ch in range(c):
            for i in range(ho):
                for j in range(wo):
                    r, q = divmod(int(ctx["winners"][b, ch, i, j]), kernel)
                    r, q = r + i * stride - padding, q + j * stride - padding
                    grad_x[b, ch, r, q] += grad_y[b, ch, i, j]
    return grad_x


# %% python_lists
"""Nested Python lists inside, arrays only at the doors; the ctx holds an array.array."""

from array import array

import numpy as np


def maxpool2d_forward(x, kernel, stride, padding=0):
    n, c, h, w = x.shape
    ho = (h + 2 * padding - kernel) // stride + 1
    wo = (w + 2 * padding - kernel) // stride + 1
    values, places = [], []
    for image in x.tolist():
        for plane in image:
            for i in range(ho):
                rows = range(max(0, i * stride - padding), min(h, i * stride - padding + kernel))
                for j in range(wo):
                    left = max(0, j * stride - padding)
                    right = min(w, j * stride - padding + kernel)
                    top, start = i * stride - padding, j * stride - padding
                    pairs = [
                        (plane[r][q], (r - top) * kernel + q - start)
                        for r in rows
                        for q in range(left, right)
                    ]
                    value, place = max(pairs, key=lambda pair: (pair[0], -pair[1]))
                    values.append(value)
                    places.append(place)
    y = np.array(values, dtype=x.dtype).reshape(n, c, ho, wo)
    kind = "B" if kernel <= 16 else "H" if kernel <= 256 else "L"
    return y, {
        "places": array(kind, places),
        "shape": (n, c, h, w),
        "at": (kernel, stride, padding),
    }


def maxpool2d_backward(grad_y, ctx):
    n, c, h, w = ctx["shape"]
    kernel, stride, padding = ctx["at"]
    across = grad_y.shape[3]
    outputs = grad_y.shape[2] * across
    flat = [0.0] * (n * c * h * w)
    for k, (gradient, place) in enumerate(zip(grad_y.ravel().tolist(), ctx["places"], strict=True)):
        plane, output = divmod(k, outputs)
        row = output // across * stride - padding + place // kernel
        column = output % across * stride - padding + place % kernel
        flat[(plane * h + row) * w + column] += gradient
    return np.array(flat, dtype=grad_y.dtype).reshape(n, c, h, w)


# %% stable_sort
"""A stable descending sort of every window; its first place is the first maximum."""

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view


class Pooling:
    """Static methods, exported as the two functions."""

    @staticmethod
    def forward(x, kernel, stride, padding=0):
        n, c, h, w = x.shape
        ho = (h + 2 * padding - kernel) // stride + 1
        wo = (w + 2 * padding - kernel) // stride + 1
        # NaN sorts behind everything, so padding comes last even among ties with minus infinity.
        frame = np.pad(-x, ((0, 0), (0, 0), (padding,) * 2, (padding,) * 2), constant_values=np.nan)
        view = sliding_window_view(frame, (kernel, kernel), axis=(2, 3))[:, :, ::stride, ::stride]
        cells = view.reshape(n, c, ho, wo, kernel * kernel)
        order = np.argsort(cells, axis=-1, kind="stable")[..., :1].copy()
        y = -np.take_along_axis(cells, order, axis=-1)[..., 0]
        place = order[..., 0].astype(np.min_scalar_type(kernel * kernel - 1))
        return y, (place, kernel, stride, padding, x.shape)

    @staticmethod
    def backward(grad_y, ctx):
        local, kernel, stride, padding, (n, c, h, w) = ctx
        ho, wo = grad_y.shape[2:]
        frame = np.zeros((n, c, h + 2 * padding, w + 2 * padding), grad_y.dtype)
        rows = local // kernel + stride * np.arange(ho).reshape(ho, 1)
        columns = local % kernel + stride * np.arange(wo)
        b = np.arange(n).reshape(n, 1, 1, 1)
        ch = np.arange(c).reshape(c, 1, 1)
        np.add.at(frame, (b, ch, rows, columns), grad_y)
        return frame[:, :, padding : padding + h, padding : padding + w].copy()


maxpool2d_forward = Pooling.forward
maxpool2d_backward = Pooling.backward
