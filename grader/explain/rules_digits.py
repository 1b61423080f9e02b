"""What the numbers of a result are: rounded, of few digits, wrapped, off to one side."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from grader.cases.draw import Array
from grader.evaluation.results import array_of
from grader.explain.cells import Cell
from grader.explain.rules import CASES, Rule, predicted, scale

WRAPPED = 8  # whole numbers that may have been added up after they wrapped


def digits(cell: Cell) -> Iterator[Rule]:
    """Right to some digits, float32 numbers, rounded; how that came about is not known."""
    a, b = cell.a, cell.b
    if a is None or b is None or a.shape != b.shape:
        return
    if isinstance(cell.got, (list, tuple)):
        yield Rule(5, "holds the right numbers, in a list or tuple", _listed)
        return
    if cell.dtype == "float64" and array_of(cell.got).dtype == np.float64:
        text = "holds float32 numbers only" if a.ndim else "is a float32 number"
        yield Rule(40, text, _single, _not_single, anywhere=True)
    yield predicted(41, "is rounded down", lambda c: None if c.b is None else np.floor(c.b))
    yield predicted(41, "is rounded up", lambda c: None if c.b is None else np.ceil(c.b))
    for places in range(13):
        text = f"is rounded to {places} decimals" if places else "is rounded to a whole number"
        yield Rule(42, text, partial(_rounded, places=places), partial(_unrounded, places=places))
    whole = isinstance(cell.want, (int, np.integer))
    if cell.dtype == "float64" and not whole:
        for right in (9, 6):
            # Small entries of an array may be right to fewer digits.
            bound = f"off by less than 1e-{right} of its largest entry"
            text = f"is {bound}" if b.ndim else f"is right to {right} digits"
            yield Rule(
                60 - right,
                text,
                partial(_nearly, digits=right),
                anywhere=True,
                seen=" in every case that was tried",
                own=CASES,
                varies=_worst,
            )
    if b.ndim == 0 and isinstance(cell.want, (int, np.integer)):
        for unit in (10**9, 10**6, 10**3):
            for words, how in (("", np.round), (" down", np.floor), (" up", np.ceil)):
                text = f"is rounded{words} to a whole multiple of {unit:,}"
                yield predicted(46, text, partial(_whole_multiple, unit=unit, how=how))
        more = int(cell.got) - int(cell.want)
        much = "more" if more > 0 else "less"
        yield predicted(
            45,
            f"is {abs(more):,} {much} than it should be in every case",
            partial(_plus, more=more),
        )
        for rank, bits in ((12, 64), (13, 32), (14, 16)):
            yield Rule(rank, f"is off by a multiple of 2**{bits}", partial(_wraps, bits=bits))
    if b.ndim == 0 and float(b).is_integer():
        yield predicted(43, "is 1 too much", lambda c: None if c.b is None else c.b + 1)
        yield predicted(43, "is 1 too little", lambda c: None if c.b is None else c.b - 1)
        yield predicted(44, "is the next power of two", _power_of_two)
        for step in (4, 8, 16):
            text = f"is the next multiple of {step}"
            yield predicted(47, text, partial(_next_multiple, step=step))


def _single(cell: Cell) -> bool:
    a, b = cell.a, cell.b
    if a is None or b is None or a.shape != b.shape or not np.isfinite(a).all() or not a.any():
        return False
    with np.errstate(all="ignore"):
        ours = np.array_equal(a, a.astype(np.float32).astype(np.float64))
        right = np.array_equal(b, b.astype(np.float32).astype(np.float64))
    # Only where it says something: right numbers of few digits are float32 numbers too.
    return bool(ours and not right and np.abs(a - b).max() < 1e-3 * scale(cell))


def _not_single(cell: Cell) -> bool:
    a = cell.a
    with np.errstate(all="ignore"):
        return a is not None and not np.array_equal(
            a, a.astype(np.float32).astype(np.float64), equal_nan=True
        )


def _rounded(cell: Cell, *, places: int) -> bool:
    a, b = cell.a, cell.b
    if a is None or b is None or a.shape != b.shape or not np.isfinite(b).all():
        return False
    whole = np.round(a, places)
    off = np.abs(a - b).max(initial=0.0)
    return bool(
        np.array_equal(a, whole) and a.any() and off <= 0.5001 * 10.0**-places and scale(cell) < 1e4
    )


def _unrounded(cell: Cell, *, places: int) -> bool:
    b = cell.b
    return b is not None and bool((np.abs(b - np.round(b, places)) > 1e-14 * scale(cell)).any())


def right_to(cell: Cell, *, digits: int) -> bool:
    """Whether the worst entry is off by less than that of the largest.

    What is not 0 where 0 is expected has no right digits.
    """
    a, b = cell.a, cell.b
    if a is None or b is None or a.shape != b.shape or not np.isfinite(b).all():
        return False
    if ((b == 0) & (a != 0)).any():
        return False
    return bool(np.abs(a - b).max(initial=0.0) < 10.0**-digits * scale(cell))


def _nearly(cell: Cell, *, digits: int) -> bool:
    # What is equal is wrong in another way.
    return right_to(cell, digits=digits) and not np.array_equal(*cell.both)


def _worst(cell: Cell) -> float:
    """By how much it is off: a difference that never varies has nothing to do with digits."""
    a, b = cell.both
    return float(f"{np.abs(a - b).max(initial=0.0):.3g}") if a.shape == b.shape else math.nan


def _listed(cell: Cell) -> bool:
    return isinstance(cell.got, (list, tuple)) and cell.close(*cell.both)


def _whole_multiple(cell: Cell, *, unit: int, how: Callable[[Array], Array]) -> Array | None:
    if cell.b is None or cell.b.ndim:
        return None
    # What adds up rounded numbers may come out rounded in some cases, and is not in others.
    parts = [value for value in cell.others.values() if isinstance(value, int)]
    if len(parts) > 1 and sum(parts) == cell.want:
        return None
    return np.asarray(how(cell.b / unit) * unit)


def _plus(cell: Cell, *, more: int) -> Array | None:
    return None if cell.b is None or cell.b.ndim else cell.b + more


def _wraps(cell: Cell, *, bits: int) -> bool:
    got, want = int(cell.got), int(cell.want)
    # Sizes are often powers of two, and so is what they are off by: but a sum of what has wrapped
    # stays small.
    return got != want and (got - want) % 2**bits == 0 and abs(got) < WRAPPED * 2**bits


def _next_multiple(cell: Cell, *, step: int) -> Array | None:
    return None if cell.b is None or cell.b.ndim else np.asarray(np.ceil(cell.b / step) * step)


def _power_of_two(cell: Cell) -> Array | None:
    if cell.b is None or cell.b.ndim or float(cell.b) <= 0:
        return None
    return np.asarray(2.0 ** math.ceil(math.log2(float(cell.b))))


PROPOSALS = (digits,)
