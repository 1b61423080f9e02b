"""On which cases is a result wrong?  A property that every failing case has and no right one.

Only two-sided classes are spoken of: "wrong where x is empty, and in no other case that was
tried".  Where several properties
separate, all are named, because nothing tells them apart; where many do, none is.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from grader.evaluation.results import Value, array_of, dtype_of
from grader.explain.cells import Cell, numbers
from grader.explain.rules import form
from grader.explain.rules_whole import axis_of
from grader.sandbox.worker.wire import Tensor

FAILING = 3  # cases at least,
FORMS = 2  # of so many shapes or numbers
RIGHT = 4  # cases at least,
ORIGINS = 2  # made from so many cases of the question; or one less, each from its own
MOST = 2  # properties that are named together
SEVERAL, ONE_HOT = " has several entries that are not 0", " is not one-hot"
COMPARING = (" larger than ", " smaller than ", " equals ")
LAYOUTS = {
    "broadcast": "expanded", "readonly": "read-only", "fortran": "in Fortran order",
    "reversed": "reversed", "strided": "strided",
}  # fmt: skip
BOTH = " and "  # in these cases it is the same where either is so
UNTOLD = " (these cases do not tell which of both matters)"


def separating(failing: Sequence[Cell], right: Sequence[Cell]) -> str:
    """What tells the failing cases from the right ones, as "x is empty"; '' where nothing does."""
    if len(failing) < FAILING or len({form(cell) for cell in failing}) < FORMS:
        return ""
    origins = len({cell.origin for cell in right})
    if origins < ORIGINS or max(len(right), origins + 1) < RIGHT:
        return ""
    pinned = _pinned(failing, right)
    common = properties(failing[0])
    for cell in failing[1:]:
        theirs = properties(cell)
        common = {name: v for name, v in common.items() if v and theirs.get(name)}
    for cell in right:
        theirs = properties(cell)
        # What cannot be asked of a right case says nothing on it.
        common = {n: v for n, v in common.items() if v and theirs.get(n) is False}
    if len({cell.origin for cell in failing}) == 1:
        # Cases made from one case share whatever its numbers happen to be to each other.
        common = {n: v for n, v in common.items() if not any(word in n for word in COMPARING)}
    found = [*sorted((name for name, has in common.items() if has), key=len)]
    found += _single_values(failing, right) if not found else []
    # What has several is not one-hot anyway.
    found = [n for n in found if ONE_HOT not in n or n.replace(ONE_HOT, SEVERAL) not in found]
    # What never varies where it is right may be the cause as well.
    if any(not pinned <= set(re.findall(r"\w+", name)) for name in found):
        return ""
    if len(found) > MOST:
        return ""
    return BOTH.join(found) + (UNTOLD if len(found) > 1 else "")


def _pinned(failing: Sequence[Cell], right: Sequence[Cell]) -> set[str]:
    """Inputs that are no arrays, and vary on the whole but not among the right cases."""
    found = set()
    for name, value in failing[0].given.items():
        if isinstance(value, (np.ndarray, Tensor)):
            continue
        wrong, fine = ({repr(c.given.get(name)) for c in some} for some in (failing, right))
        if len(fine) == 1 and wrong - fine:
            found.add(name)
    return found


def _single_values(failing: Sequence[Cell], right: Sequence[Cell]) -> list[str]:
    """One value of a whole number, where smaller ones and larger ones are right."""
    found = []
    for name, value in failing[0].given.items():
        if not isinstance(value, int) or isinstance(value, bool):
            continue
        theirs = [v for c in right if isinstance(v := c.given.get(name), int)]
        if (
            all(c.given.get(name) == value for c in failing)
            and value not in theirs
            and min(theirs, default=value) < value < max(theirs, default=value)
        ):
            found.append(f"{name} is {value}")
    return found


def properties(cell: Cell) -> Mapping[str, bool]:
    """Whether each property holds of a case; those that cannot be asked of it are left out."""
    return dict(_properties(cell))


def _properties(cell: Cell) -> Iterator[tuple[str, bool]]:
    plain: dict[str, float] = {}
    for name, value in cell.given.items():
        if isinstance(value, str):
            yield f"{name} is {value!r}", True
        elif isinstance(value, bool):
            yield f"{name} is {value}", True
            yield f"{name} is {not value}", False
        elif isinstance(value, (int, float)):
            plain[name] = value
        elif isinstance(value, (np.ndarray, Tensor)):
            yield from _of_array(name, value)
    for name, number in plain.items():
        yield f"{name} is 0", number == 0
        yield f"{name} is negative", number < 0
        yield f"{name} is not negative", number >= 0
        if number > 0:
            yield f"{name} is 1", number == 1
            yield f"{name} is above 1", number > 1
        yield f"{name} is not 0", number != 0
        if isinstance(number, float):
            yield f"{name} is no whole number", not number.is_integer()
    whole = [name for name, number in plain.items() if isinstance(number, int)]
    for one, other in itertools.combinations(whole, 2):
        n, m = plain[one], plain[other]
        yield f"{one} is larger than {other}", n > m
        yield f"{one} is smaller than {other}", n < m
        yield f"{one} equals {other}", n == m
    for dtype in ("float32", "bfloat16"):
        yield f"the arrays are {dtype}", cell.dtype == dtype
    for layout, word in LAYOUTS.items():
        yield f"the arrays are {word}", cell.layout == layout
        for name, value in cell.given.items():
            if isinstance(value, (np.ndarray, Tensor)):
                yield f"{name} is {word}", cell.layouts.get(name) == layout
    yield from _of_result(cell)


def _of_array(name: str, value: Value) -> Iterator[tuple[str, bool]]:
    array = np.asarray(array_of(value))
    yield f"{name} is empty", array.size == 0
    for axis, length in enumerate(array.shape):
        where = axis_of(name, axis, array.ndim)
        if where:
            yield f"{where} is 1", length == 1
    for i, j in itertools.combinations(range(array.ndim), 2):
        if array.size:
            one, other = axis_of(name, i, array.ndim), axis_of(name, j, array.ndim)
            yield f"{one} equals {other}", array.shape[i] == array.shape[j]
    yield f"{name} is one-dimensional", array.ndim == 1
    for dtype in ("uint8", "int16", "int32", "bool"):
        yield f"{name} is {dtype}", dtype_of(value) == dtype
    if array.dtype.kind == "f" and array.size:
        finite = array[np.isfinite(array)]
        yield f"{name} holds infinities", finite.size < array.size
        yield f"{name} has equal entries", bool(np.unique(finite).size < finite.size)
        yield f"{name} is 0 throughout", not array.any()
        if array.ndim == 1:
            several = int(np.count_nonzero(array)) > 1
            yield f"{name}{SEVERAL}", several
            yield f"{name} does not add up to 1", abs(float(finite.sum()) - 1) > 1e-6
            one_hot = not several and array.max(initial=0.0) == 1
            yield f"{name}{ONE_HOT}", not one_hot
    elif array.dtype.kind in "iu":
        yield f"{name} has entries above 127", bool((array > 127).any())
        yield f"{name} has negative entries", bool((array < 0).any())


def _of_result(cell: Cell) -> Iterator[tuple[str, bool]]:
    want = cell.want
    yield f"{cell.result} should be None", want is None
    if isinstance(want, (bool, np.bool_)):
        yield f"{cell.result} should be {bool(want)}", True
        yield f"{cell.result} should be {not want}", False
    if isinstance(want, (int, np.integer)):
        for small in (0, 1):
            yield f"{cell.result} should be {small}", int(want) == small
    values = numbers(want)
    if values is not None and values.ndim and values.size:
        yield f"{cell.result} should hold minus infinity", bool(np.isneginf(values).any())


def possible(failing: Sequence[Cell], right: Sequence[Cell]) -> bool:
    """Whether anything tells these cases apart so far, so that more of them are worth a look."""
    if not failing:
        return False
    shared = set.intersection(*({n for n, has in properties(c).items() if has} for c in failing))
    return any(not any(properties(c).get(n) for c in right) for n in shared)
