"""A digest of what is wrong in what a submission computed, so that equal answers can be found.

Two programs that hold one wrong idea have one digest although they are written in other ways; two
ideas have two.  Of the failing checks that compare values, all that is wrong counts; only where
nothing is, what was measured.  So it does not matter to an idea that one way of writing it keeps
more bytes.
"""

from __future__ import annotations

import contextlib
import hashlib
import math
from collections.abc import Collection, Iterator, Mapping

import numpy as np

from grader.cases.draw import Array
from grader.evaluation.evaluation import BankFault
from grader.evaluation.values import LOOSE, Value, array_of, dtype_of, keys_of, largest
from grader.explain.components import observed
from grader.explain.naming import Failure
from grader.kinds.base import Count
from grader.model.report import FINE, Verdict
from grader.sandbox.client import WorkerError
from grader.sandbox.deadline import OutOfTime
from grader.sandbox.worker.wire import Opaque, Tensor

DIGITS = 16  # hexadecimal ones of a digest
# Steps: of the largest deviation, in float64 and in what is less precise; of a count of bytes.
FINE_STEP, COARSE_STEP, COUNT_STEP = 1e-4, 0.02, 0.05
NEARLY = 3e-6  # of the largest entry: float32 inside gives any such deviation
ROUNDING = 1e-7  # of the largest entry, the least step: the rest is how it was rounded
# Numbers that mean something are not halfway between two steps: 0.5, 1/3, 2e-5.
APART = 0.23606797749978969
DIRECTIONS = 4  # in which an imprecise array is looked at
RIGHT = {"right", "nearly"}  # what is said where values are not wrong
MOST_ENTRIES = 1 << 18  # of an array that are looked at


def fingerprint(failure: Failure) -> str:
    """Return a digest of what is wrong; empty where all passed or nothing was computed."""
    failing = {
        check.id: check.message
        for check in failure.checks
        if check.verdict not in FINE and check.verdict is not Verdict.SKIPPED
        if check.cases or check.figures
    }
    with contextlib.suppress(OutOfTime, BankFault, WorkerError):
        found = [*_wrong_results(failure, failing.keys())]
        if failing and not found:
            found = [*_measures(failure, failing), *failing]
        if found:
            return hashlib.sha256("\n".join(sorted(found)).encode()).hexdigest()[:DIGITS]
    return ""


def _wrong_results(failure: Failure, failing: Collection[str]) -> Iterator[str]:
    """A text for every result that is wrong on a case of a failing check."""
    for c in failure.values:
        if c.of_dtype:
            continue
        for case in c.cases:
            if not set(failing).isdisjoint(c.checks[case]):
                dtype = failure.mine.cases[case].dtype
                right = observed(failure.reference, c, case)
                form = "".join(_form(observed(failure.mine, c, case), right, dtype))
                if form != "".join(_form(right, right, dtype)):
                    yield f"{c.run} {case} {c.name} {form}"


def _measures(failure: Failure, failing: Mapping[str, str]) -> Iterator[str]:
    """A text for everything that was measured and does not depend on how an idea is written."""
    measured = {c.measured_by.id: c for c in failure.everything if c.measured_by is not None}
    for check, message in failing.items():
        c = measured.get(check)
        if c is None or c.by_style:
            yield "" if c is not None else f"{check} {message}"
            continue
        for case in c.cases:
            seen = observed(failure.mine, c, case)
            if not isinstance(seen, Count):
                yield f"{check} {case} {''.join(_form(seen, None, failure.mine.cases[case].dtype))}"
            elif seen.kept is not None:
                yield f"{check} {case} {' '.join(seen.kept)}"
            else:
                yield f"{check} {case} {_step(math.log(max(seen.value, 1.0)), COUNT_STEP)}"


def _form(got: Value, right: Value, dtype: str) -> Iterator[str]:
    """A result in a form that is equal for equal ideas; the dtype is that of the case."""
    match got:
        case None | bool() | np.bool_() | str():
            yield f"{type(got).__name__} {len(str(got))} {got};"
        case Opaque(type=name):
            yield f"an object {len(name)} {name};"
        case dict() | list() | tuple():
            keys = list(got) if isinstance(got, dict) else list(range(len(got)))
            alike = right is not None and keys_of(got, right) is not None
            yield f"{'dict' if isinstance(got, dict) else 'list'} {len(keys)}("
            for key in sorted(keys, key=str):
                yield f"{len(str(key))} {key}:"
                yield from _form(got[key], right[key] if alike else None, dtype)
            yield ")"
        case _:
            yield _of_numbers(got, right, dtype)


def _of_numbers(got: Value, right: Value, dtype: str) -> str:
    """Of an array or a number: its sort, and how far it is from the right one if known."""
    array, is_array = array_of(got), isinstance(got, (np.ndarray, Tensor))
    # An integral float is as good as a whole number, where it is not an entry of an array.
    sort = f"{type(got).__name__} {array.shape} {array.dtype.kind}" if is_array else "number"
    if array.dtype.kind not in "fiu":
        return f"{sort} {hashlib.sha256(np.ascontiguousarray(array).tobytes()).hexdigest()};"
    wanted = array_of(right) if isinstance(right, (type(got), float, int)) else None
    if wanted is not None and (wanted.shape != array.shape or wanted.dtype.kind not in "fiu"):
        wanted = None
    if is_array:
        dtypes = [dtype_of(got), dtype if wanted is None else dtype_of(right)]
        dtype = max(dtypes, key=lambda one: LOOSE.get(one, 0.0))
    text = _differences(array, np.zeros_like(array) if wanted is None else wanted, dtype)
    # Where nothing else is wrong, the dtype may be.
    return f"{sort} {f'{dtype_of(got)} {text}' if is_array and text in RIGHT else text};"


def _differences(got: Array, right: Array, dtype: str) -> str:
    """How far numbers are from the right ones, in steps that no rounding moves."""
    every = max(1, -(-got.size // MOST_ENTRIES))
    found, base = (v.reshape(-1)[::every].astype(np.float64) for v in (got, right))
    odd, right_odd = (np.isnan(v) + 2 * np.isposinf(v) + 3 * np.isneginf(v) for v in (found, base))
    places = "" if np.array_equal(odd, right_odd) else _digest(odd)
    both = np.isfinite(found) & np.isfinite(base)
    off = np.subtract(found, base, out=np.where(odd == 0, found, 0.0), where=both)
    size, top = largest(base), largest(off)
    loose = LOOSE.get(dtype, LOOSE["float64"])
    if not np.isfinite(off).all():
        return f"overflow {places}"
    if top <= loose * (size or 1.0):
        return places or "right"
    if loose > LOOSE["float32"]:
        return f"wrong {places}"
    if loose > LOOSE["float64"]:  # in a few directions, which rounding hardly moves
        norm, order = float(np.linalg.norm(off)), np.arange(1, off.size + 1, dtype=np.float64)
        seen = [float(off @ np.sin(order * math.sqrt(n + 2))) / norm for n in range(DIRECTIONS)]
        return f"{[_step(one, COARSE_STEP) for one in (math.log(norm), *seen)]} {places}"
    if top <= NEARLY * size:
        return f"nearly {places}".rstrip()
    step = max(FINE_STEP, ROUNDING * size / top)
    fine = np.floor(off / top / step + APART).astype(np.int64)
    return f"{_step(math.log(top), step)} {_digest(fine)} {places}"


def _digest(array: Array) -> str:
    return hashlib.sha256(array.astype(np.int64).tobytes()).hexdigest() if array.any() else "0"


def _step(value: float, step: float) -> int:
    return math.floor(value / step + APART)
