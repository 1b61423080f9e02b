"""Rules about digits, about the entries that are wrong, and about what has another shape."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from grader.cases.draw import Array
from grader.evaluation.results import largest
from grader.explain.cells import Cell, numbers
from grader.explain.rules import Rule, predicted
from grader.explain.rules_whole import sizes
from grader.model.numerals import number


def entries(cell: Cell) -> Iterator[Rule]:
    """What the wrong entries have in common: of right cases it says nothing."""
    a, b = cell.a, cell.b
    if a is None or b is None or a.shape != b.shape or not b.size:
        return
    if b.ndim == 0:
        for word, test in (("NaN", np.isnan), ("infinite", np.isinf)):
            yield Rule(4, f"is {word}", partial(_all, of="a", test=test), numeric=False)
        return
    for word, test in (("NaN", np.isnan), ("infinite", np.isinf)):
        yield Rule(
            4,
            f"is {word} in every entry",
            partial(_throughout, test=test),
            partial(_not_throughout, test=test),
            numeric=False,
            sweeping=True,
        )
        text = f"is {word} in every entry that is wrong"
        yield Rule(50, text, partial(_all, of="a", test=test), numeric=False, local=True)
    yield Rule(51, "is 0 in every entry that is wrong", _wrong_are_zero, local=True)
    for rank, word, value in ((52, "minus infinity", -math.inf), (53, "0", 0.0)):
        text = f"is wrong only where {word} is expected"
        yield Rule(rank, text, partial(_all, of="b", test=partial(np.equal, value)), local=True)
    yield Rule(54, "is the same in every entry that is wrong", _one_number, local=True)
    wrong = cell.wrong
    if wrong.any() and not wrong.all():
        x, y = a[wrong], b[wrong]
        k = float(x[0] / y[0]) if y[0] else 0.0
        if k and math.isfinite(k) and abs(k - 1) > 1e-6:
            words = "-1" if abs(k + 1) < 1e-9 else number(k)
            words = f"{k:.9g}" if float(words) == 1 else words  # "1.000 times" says nothing
            holds = partial(_wrong_times, k=k)
            text = f"is {words} times the right one in every entry that is wrong"
            yield Rule(45, text, holds, local=True)
    for words, axes in _sums(b.ndim):
        yield Rule(
            56,
            f"has wrong entries, and the right sum {words}",
            partial(_right_sum, axes=axes),
            local=True,
            example=_too_little_and_too_much,
        )
    yield Rule(58, "holds the right numbers, in the wrong places", _elsewhere)


def _sums(ndim: int) -> Iterator[tuple[str, tuple[int, ...]]]:
    if ndim == 4:
        yield "over each plane", (2, 3)
    if ndim == 1:
        yield "over all", (0,)


def _all(cell: Cell, *, of: str, test: Callable[[Array], Any]) -> bool:
    if not cell.wrong.any():
        return False
    return bool(np.all(test(getattr(cell, of)[cell.wrong])))


def _throughout(cell: Cell, *, test: Callable[[Array], Any]) -> bool:
    # Where some entries are right, "every entry" would blame these too.
    return bool(cell.wrong.size and cell.wrong.all() and np.all(test(cell.both[0])))


def _not_throughout(cell: Cell, *, test: Callable[[Array], Any]) -> bool:
    return cell.b is not None and not np.all(test(cell.b))


def _wrong_are_zero(cell: Cell) -> bool:
    return bool(cell.wrong.any()) and not cell.both[0][cell.wrong].any()


def _one_number(cell: Cell) -> bool:
    found = cell.both[0][cell.wrong]
    alike = found.size > 2 and np.isfinite(found).all() and np.ptp(found) == 0
    return bool(alike and found[0])


def _wrong_times(cell: Cell, *, k: float) -> bool:
    a, b = cell.both
    x, y = a[cell.wrong], b[cell.wrong]
    return bool(x.size and cell.close(x, k * y))


def _right_sum(cell: Cell, *, axes: tuple[int, ...]) -> bool:
    a, b = cell.a, cell.b
    if a is None or b is None or not np.isfinite(b).all() or not np.isfinite(a).all():
        return False
    if all(b.shape[axis] < 2 for axis in axes):
        return False
    off = np.abs(a.sum(axes) - b.sum(axes)).max(initial=0.0)
    worst = np.abs(a - b).max(initial=0.0)  # that sums agree says nothing where entries nearly do
    if cell.close(a, b):
        return False
    return bool(off <= min(10 * cell.loose * max(largest(b), largest(a)), 1e-3 * worst))


def _too_little_and_too_much(cell: Cell) -> str:
    """Where most is missing, and where there is most too much."""
    a, b = cell.both
    off = a - b
    low, high = (np.unravel_index(int(at), off.shape) for at in (off.argmin(), off.argmax()))
    places = [f"[{', '.join(str(int(i)) for i in at)}]" for at in (low, high)]
    missing, extra = (number(abs(float(off[at]))) for at in (low, high))
    lacking, exceeding = f"{places[0]} ({missing})", f"{places[1]} ({extra})"
    return f"most is missing at {lacking} and most is too much at {exceeding}"


def _elsewhere(cell: Cell) -> bool:
    a, b = cell.a, cell.b
    if a is None or b is None or cell.close(a, b) or np.unique(b[b != 0]).size < 2:
        return False
    return cell.close(np.sort(a, None), np.sort(b, None))


def reshaped(cell: Cell) -> Iterator[Rule]:
    """What has another shape, and would be right but for that."""
    a, b = cell.a, cell.b
    if a is None or b is None or a.shape == b.shape:
        return
    if b.ndim == 0:
        if a.size == 1:
            return  # the check says so
        known = [n for n, length in sizes(cell).items() if a.shape == (length,)]
        if known:
            yield Rule(
                5, f"is not one number, but as many as {known[0]}", partial(_as_many, name=known[0])
            )
        yield _folded(4, "is not one number, but several whose sum is right", lambda x, _: x.sum())
        yield _folded(
            4,
            "is not one number, but several whose mean is right",
            lambda x, _: x.sum() / max(1, x.size),
        )
        return
    for axis in range(a.ndim):
        if a.ndim == b.ndim + 1 and a.shape[axis] > 1:
            yield _folded(3, f"is not added up along axis {axis}", partial(_added, axis=axis))
            yield _folded(3, f"is not averaged along axis {axis}", partial(_averaged, axis=axis))
    keep = a.ndim == b.ndim
    for axis in range(b.ndim):
        if b.shape[axis] > 1 and (a.shape[axis] == 1 if keep else a.ndim < b.ndim):
            for words, how in (("added up", np.sum), ("averaged", np.mean)):
                predict = partial(_folded_right, axis=axis, how=how, keep=keep)
                yield predicted(3, f"is {words} along axis {axis}", predict)
    if a.ndim == b.ndim:
        for order in itertools.permutations(range(b.ndim)):
            if list(order) != sorted(order) and b.ndim <= 4:
                yield predicted(
                    4, f"has its axes in the order {', '.join(map(str, order))}",
                    partial(_transposed, order=order),
                )  # fmt: skip
        for axis in range(b.ndim):
            along = "" if b.ndim == 1 else f" of axis {axis}"
            for words, end in (("at the end", 0), ("at the start", 1)):
                yield Rule(
                    6,
                    f"lacks entries {words}{along}, and the others are right",
                    partial(_cut, axis=axis, end=end, longer=False),
                )
                yield Rule(
                    6,
                    f"has too many entries {words}{along}, and the others are right",
                    partial(_cut, axis=axis, end=end, longer=True),
                )
    if a.ndim == b.ndim > 1:
        for words, longer in (("has too many", True), ("lacks", False)):
            text = f"{words} entries at the end of its axes, and the others are right"
            yield Rule(8, text, partial(_corner, longer=longer))
    yield _folded(7, "has the right numbers in the right order, in another shape", _flat)
    for source, values in (("others", cell.others), ("given", cell.given)):
        for name in values:
            yield Rule(
                9 if source == "others" else 10, f"has the shape of {name}",
                partial(_shaped, source=source, name=name), _shape_clash(source, name),
                numeric=False,
            )  # fmt: skip


def _folded(rank: int, text: str, fold: Callable[[Array, Array], Array]) -> Rule:
    """A rule that holds where what was given, folded so, is the right one."""

    def holds(cell: Cell) -> bool:
        a, b = cell.a, cell.b
        return a is not None and b is not None and cell.close(np.asarray(fold(a, b)), b)

    return Rule(rank, text, holds)


def _added(a: Array, _: Array, *, axis: int) -> Array:
    return np.asarray(a.sum(axis))


def _averaged(a: Array, _: Array, *, axis: int) -> Array:
    return np.asarray(a.sum(axis) / max(1, a.shape[axis]))


def _flat(a: Array, b: Array) -> Array:
    return a.reshape(b.shape) if a.size == b.size else a


def _folded_right(cell: Cell, *, axis: int, how: Callable[..., Array], keep: bool) -> Array | None:
    b = cell.b
    if b is None or b.ndim <= axis or not b.shape[axis]:
        return None
    return np.asarray(how(b, axis=axis, keepdims=keep))


def _as_many(cell: Cell, *, name: str) -> bool:
    return cell.a is not None and cell.a.shape == (sizes(cell).get(name),)


def _transposed(cell: Cell, *, order: tuple[int, ...]) -> Array | None:
    b = cell.b
    return b.transpose(order) if b is not None and b.ndim == len(order) else None


def _cut(cell: Cell, *, axis: int, end: int, longer: bool) -> bool:
    a, b = cell.a, cell.b
    if a is None or b is None or a.ndim != b.ndim:
        return False
    short, long = (b, a) if longer else (a, b)
    n, m = short.shape[axis], long.shape[axis]
    if not 0 < n < m:
        return False
    places = range(m - n, m) if end else range(n)
    return cell.close(short, np.take(long, places, axis))


def _corner(cell: Cell, *, longer: bool) -> bool:
    a, b = cell.a, cell.b
    if a is None or b is None or a.ndim != b.ndim or a.shape == b.shape:
        return False
    short, long = (b, a) if longer else (a, b)
    fits = short.size > 0 and all(n <= m for n, m in zip(short.shape, long.shape, strict=True))
    return fits and cell.close(short, long[tuple(slice(n) for n in short.shape)])


def _shaped(cell: Cell, *, source: str, name: str) -> bool:
    other = numbers(getattr(cell, source).get(name))
    a, b = cell.both
    return other is not None and a.ndim > 0 and a.shape == other.shape != b.shape


def _shape_clash(source: str, name: str) -> Callable[[Cell], bool]:
    def clashes(cell: Cell) -> bool:
        other = numbers(getattr(cell, source).get(name))
        return other is not None and cell.b is not None and other.shape != cell.b.shape

    return clashes


def typed(cell: Cell) -> Iterator[Rule]:
    """What is no number where one is expected, and the other way round."""
    if isinstance(cell.want, (bool, np.bool_)) and isinstance(cell.got, (bool, np.bool_)):
        yield Rule(
            5,
            f"is {not cell.want} where it should be {bool(cell.want)}",
            partial(_same_text, text=str(cell.got)),
            numeric=False,
            anywhere=True,
            entire=True,
        )
    if cell.want is None and numbers(cell.got) is not None:
        yield Rule(
            5,
            "is a number where None is expected",
            lambda c: c.want is None and c.a is not None,
            numeric=False,
            anywhere=True,
            entire=True,
        )


def _same_text(cell: Cell, *, text: str) -> bool:
    return str(cell.got) == text


PROPOSALS = (entries, reshaped, typed)
