"""Row softmax and RMSNorm as tile kernels, for rows of any length, and a backward of RMSNorm."""

from collections.abc import Iterator

import numpy as np
from tile import Memory, Tiles

Array = np.ndarray
WIDE = np.float32  # what sums are kept in


def softmax(t: Tiles, x: Array, block: int) -> Array:
    """Return the softmax along the rows of x, (rows, n)."""
    rows, n = x.shape
    y = t.empty(x.size, x.dtype)
    t.launch(_softmax_kernel, rows, Memory(x), y, n, block)
    return y.array.reshape(rows, n)


def rmsnorm(
    t: Tiles, x: Array, gamma: Array, eps: float, block: int, train: bool = False
) -> tuple[Array, Array | None]:
    """Return y, and one over the root of each row's mean square if it is to be trained."""
    rows, n = x.shape
    y = t.empty(x.size, x.dtype)
    rstd = _kept(t, rows, x, train)
    t.launch(_rmsnorm_kernel, rows, Memory(x), Memory(gamma), y, rstd, n, eps, block)
    return y.array.reshape(rows, n), rstd.array if rstd is not None and train else None


def rmsnorm_backward(
    t: Tiles, x: Array, gamma: Array, rstd: Array, grad_y: Array, block: int, programs: int
) -> tuple[Array, Array]:
    """Return grad_x like x, and grad_gamma (n,) in float32."""
    rows, n = x.shape
    grad_x, grad_gamma = t.empty(x.size, x.dtype), t.empty(n, WIDE)
    parts = t.empty(programs * n, _part_dtype(x))
    given = [Memory(array) for array in (x, gamma, rstd, grad_y)]
    t.launch(_backward_kernel, programs, *given, grad_x, parts, rows, n, block, programs)
    t.launch(_add_kernel, -(-n // block), parts, grad_gamma, programs, n, block)
    return grad_x.array.reshape(rows, n), grad_gamma.array


def _softmax_kernel(t: Tiles, row: int, x: Memory, y: Memory, n: int, block: int) -> None:
    state = _nothing()
    for cols, inside in _tiles(n, block):
        v = _scores(t, x, row * n + cols, inside)
        state = _add(state, v)
    for cols, inside in _tiles(n, block):
        if _again(n, block):
            v = _scores(t, x, row * n + cols, inside)
        t.store(y, row * n + cols, _share(v, state), mask=inside)


def _rmsnorm_kernel(
    t: Tiles,
    row: int,
    x: Memory,
    gamma: Memory,
    y: Memory,
    rstd: Memory | None,
    n: int,
    eps: float,
    block: int,
) -> None:
    total = _sum_dtype(x)(0)
    for cols, inside in _tiles(n, block):
        v = _loaded(t, x, row * n + cols, inside)
        total = total + _squares(v)
    scale = 1 / np.sqrt(total / _count(n, block) + WIDE(eps))
    if rstd is not None:
        t.store(rstd, [row], scale)
    for cols, inside in _tiles(n, block):
        if _again(n, block):
            v = _loaded(t, x, row * n + cols, inside)
        w = _loaded(t, gamma, cols, inside)
        t.store(y, row * n + cols, v * scale * w, mask=inside)


def _backward_kernel(
    t: Tiles,
    program: int,
    x: Memory,
    gamma: Memory,
    rstd: Memory,
    grad_y: Memory,
    grad_x: Memory,
    parts: Memory,
    rows: int,
    n: int,
    block: int,
    programs: int,
) -> None:
    """Take a run of rows: their grad_x, and their share of grad_gamma."""
    shares = [np.zeros(block, WIDE) for _ in _tiles(n, block)]
    for row in _rows(program, rows, programs):
        scale = t.load(rstd, [row])[0]
        dot = WIDE(0)
        for (cols, inside), share in zip(_tiles(n, block), shares, strict=True):
            h, d, w = _row(t, x, gamma, grad_y, row * n, cols, inside)
            h = h * scale
            share += d * h
            dot = dot + _dot(d, w, h)
        for cols, inside in _tiles(n, block):
            h, d, w = _row(t, x, gamma, grad_y, row * n, cols, inside)
            h = h * scale
            t.store(grad_x, row * n + cols, _grad(d * w, h, dot, n, scale), mask=inside)
    for (cols, inside), share in zip(_tiles(n, block), shares, strict=True):
        t.store(parts, program * n + cols, share, mask=inside)


def _add_kernel(
    t: Tiles, program: int, parts: Memory, total: Memory, programs: int, n: int, block: int
) -> None:
    """Add the shares of all programs, for one tile of columns."""
    cols = program * block + np.arange(block)
    inside = cols < n
    found = np.zeros(block, WIDE)
    for i in range(programs):
        found += t.load(parts, i * n + cols, mask=inside)
    t.store(total, cols, found, mask=inside)


def _tiles(n: int, block: int) -> Iterator[tuple[Array, Array]]:
    """Yield the columns of each tile of a row, and which of them are inside."""
    for start in range(0, n, block):
        cols = start + np.arange(block)
        yield cols, cols < n


def _scores(t: Tiles, x: Memory, at: Array, inside: Array) -> Array:
    """Return a tile of scores; outside of the row nothing has a weight."""
    return t.load(x, at, mask=inside, other=-np.inf).astype(WIDE)


def _loaded(t: Tiles, x: Memory, at: Array, inside: Array) -> Array:
    """Return a tile; outside of the row nothing adds to a sum."""
    return t.load(x, at, mask=inside).astype(WIDE)


def _nothing() -> tuple[np.floating, np.floating]:
    """Return the maximum and the sum of no scores."""
    return WIDE(-np.inf), WIDE(0)


def _add(state: tuple[np.floating, np.floating], v: Array) -> tuple[np.floating, np.floating]:
    """Return the maximum, and the sum of exponentials measured from it, with one more tile."""
    top, total = state
    new = np.maximum(top, v.max())
    base = _base(new)
    return new, total * np.exp(top - base) + _exps(v, base).sum()


def _base(top: np.floating) -> np.floating:
    """Return what is taken off scores: minus infinity less itself would be NaN."""
    return WIDE(0) if np.isneginf(top) else top


def _exps(v: Array, base: np.floating) -> Array:
    return np.exp(v - base)


def _share(v: Array, state: tuple[np.floating, np.floating]) -> Array:
    """Return the softmax of one tile."""
    top, total = state
    return np.exp(v - top) / total


def _again(n: int, block: int) -> bool:
    """Return whether a row has to be loaded once more; one that fits into a tile is there."""
    return n > block


def _squares(v: Array) -> np.floating:
    return (v * v).sum()


def _count(n: int, block: int) -> int:  # noqa: ARG001 an idea asks for it
    """Return what a sum over a row is divided by."""
    return n


def _kept(t: Tiles, rows: int, x: Array, train: bool) -> Memory | None:  # noqa: ARG001 likewise
    """Return where a forward keeps what only a backward needs."""
    return t.empty(rows, WIDE) if train else None


def _sum_dtype(x: Memory) -> type[np.floating]:  # noqa: ARG001 likewise
    return WIDE


def _part_dtype(x: Array) -> type[np.floating]:  # noqa: ARG001 likewise
    return WIDE


def _rows(program: int, rows: int, programs: int) -> range:
    """Return the rows of a program."""
    each = -(-rows // programs)
    return range(program * each, min(rows, (program + 1) * each))


def _row(
    t: Tiles, x: Memory, gamma: Memory, grad_y: Memory, start: int, cols: Array, inside: Array
) -> tuple[Array, Array, Array]:
    """Return tiles of x, of the gradient that arrives, and of gamma."""
    return (
        _loaded(t, x, start + cols, inside),
        _loaded(t, grad_y, start + cols, inside),
        _loaded(t, gamma, cols, inside),
    )


def _dot(d: Array, w: Array, h: Array) -> np.floating:
    return (d * w * h).sum()


def _grad(grad_h: Array, h: Array, dot: np.floating, n: int, scale: np.floating) -> Array:
    """Return a tile of grad_x; dot is the sum of grad_h * h over the row."""
    return scale * (grad_h - h * dot / n)
