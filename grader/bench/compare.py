"""Decide whether a result agrees with the reference, say where it does not, and how far off it is.

Order: type, shape, dtype, finiteness, values.  Values agree norm-wise: the worst deviation is held
against the largest expected magnitude, never an entry against itself (an element-wise relative
error rejects right gradients wherever the true value is near zero).  The band:

- float64: 1e-10, or 16 times what moving the inputs by one unit in the last place does to the
  reference, whichever is more.  float32 arithmetic on float64 inputs is off by 1e-8 and more.
- float32: 16 times (that effect, in float32's last place, plus 4 units in the last place).
- bfloat16: 3e-2 in the Euclidean norm.

The expected values of float32 and bfloat16 cases are computed by the reference in float64 on the
rounded inputs, so an answer more accurate than the reference's own dtype is never wrong.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from grader.bench.bench import Bench
from grader.bench.encoding import NATIVE, NUDGES, PRECISE
from grader.bench.results import (
    Value,
    array_of,
    describe,
    deviations,
    dict_keys,
    dtype_of,
    keys_of,
    largest,
    real_parts,
)  # fmt: skip
from grader.cases.draw import Array
from grader.cases.recipe import CaseRecipe
from grader.model.numerals import band, number, numbers_apart, shape_text
from grader.model.report import Mismatch
from grader.sandbox.replies import Outcome
from grader.sandbox.worker.wire import Tensor

RELATIVE_64 = 1e-10
RELATIVE_BF16 = 3e-2
SAFETY = 16.0  # right code measured up to 3.6 units of the rounding effect over ten workloads
ULPS = 4.0


@dataclass(frozen=True, slots=True)
class Fault:
    """One result that does not agree on one case."""

    result: str
    sentence: str  # "grad_x differs in 3 of 9 entries"
    kind: str  # type, dtype, shape, nonfinite, values
    observed: str
    expected: str
    allowed: str | None = None
    index: tuple[int, ...] | None = None
    wrong: int = 0
    total: int = 0
    arrays: tuple[Array, Array, Array] | None = None  # observed, expected, which are wrong

    def mismatch(self, case: str) -> Mismatch:
        """What a report on a case says of it."""
        return Mismatch(
            self.result, case, self.index, self.observed, self.expected, self.allowed,
            self.wrong, self.total,
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Expected:
    """What a result should be."""

    native: Any  # in the case's dtypes: type, dtype and shape
    precise: Any  # in float64: values
    moved: Callable[[], list[Any]]  # the precise value after nudging the inputs; costly
    dtype: str = "float64"  # of the case: what a scalar, which has no dtype of its own, is held to

    def part(self, key: str | int) -> Expected:
        """What an item of a container should be."""
        return Expected(
            self.native[key], self.precise[key], lambda: [m[key] for m in self.moved()], self.dtype
        )


def expected(
    bench: Bench, run: str, case: CaseRecipe, result: str, *, draw_index: int = 0
) -> Expected:
    """What the reference says a result is, with the means to find how far rounding may move it."""

    def right(mode: str) -> Value:
        return bench.truth(run, case, draw_index=draw_index, mode=mode).values[result]

    precise = right(NATIVE if case.dtype == "float64" else PRECISE)
    return Expected(right(NATIVE), precise, lambda: [right(mode) for mode in NUDGES], case.dtype)


def fault_of(
    bench: Bench,
    run: str,
    case: CaseRecipe,
    result: str,
    outcome: Outcome,
    *,
    draw_index: int = 0,
    exact: bool = False,
    zeros: bool = False,
) -> Fault | None:
    """How a result differs from the reference's, if it does; see `compare`."""
    wanted = expected(bench, run, case, result, draw_index=draw_index)
    return compare(result, outcome.values.get(result), wanted, exact=exact, zeros=zeros)


def compare(
    result: str, observed: Value, expected: Expected, *, exact: bool = False, zeros: bool = False
) -> Fault | None:
    """Return the first fault of a result, or None when it agrees.

    Args:
        result: its name.
        observed: what the submission gave, as decoded from the wire.
        expected: what the reference gave.
        exact: values must be equal.
        zeros: values must be exactly zero wherever the expected ones are.
    """
    native = expected.native
    if isinstance(native, (np.ndarray, Tensor)):
        return _array(result, observed, expected, exact=exact, zeros=zeros)
    if not isinstance(native, (dict, list, tuple)):
        return _scalar(result, observed, expected, exact=exact)
    if (keys := keys_of(observed, native)) is None:
        is_dict = isinstance(native, dict)
        wanted = f" with {', '.join(native)}" if is_dict else f" of {len(native)}"
        note = dict_keys(observed) if is_dict else ""
        return _of_type(result, observed, f"a {type(native).__name__}{wanted}", note)
    faults = (
        compare(f"{result}[{key!r}]", observed[key], expected.part(key), exact=exact, zeros=zeros)
        for key in keys
    )
    return next(filter(None, faults), None)


def _array(
    result: str, observed: Value, expected: Expected, *, exact: bool, zeros: bool
) -> Fault | None:
    native = expected.native
    if type(observed) is not type(native) and not (
        isinstance(observed, np.generic) and isinstance(native, np.ndarray) and native.ndim == 0
    ):
        return _of_type(result, observed, describe(native))
    got, want = array_of(observed), array_of(native)
    found, wanted = dtype_of(observed), dtype_of(native)
    if got.shape != want.shape:
        has, needs = shape_text(got.shape), shape_text(want.shape)
        return Fault(result, f"{result} has shape {has}, expected {needs}", "shape", has, needs)
    if found != wanted:
        return Fault(result, f"{result} is {found}, expected {wanted}", "dtype", found, wanted)
    precise = array_of(expected.precise)
    if got.dtype.kind == "c":  # both parts count: compare them as two numbers
        wanted = _of_parts(native)
        got, want, precise = (real_parts(a) for a in (got, want, precise))
    if got.dtype.kind == "f" and (fault := _nonfinite(result, got, want)) is not None:
        return fault
    if got.dtype.kind != "f" or exact:
        return report(result, got, want, ~_equal(got, want))
    return _numbers(result, got, precise, wanted, expected, zeros=zeros)


def _nonfinite(result: str, got: Array, want: Array) -> Fault | None:
    """NaN or infinity where a number is expected, or the other way round."""
    odd = np.where(np.isfinite(want), ~np.isfinite(got), ~_equal(got, want))
    fault = report(result, got, want, odd)
    if fault is None:
        return None
    found, wanted = number(float(got[fault.index])), number(float(want[fault.index]))
    sentence = f"{result} holds {found} where {wanted} is expected"
    return replace(fault, sentence=sentence, kind="nonfinite")


def _numbers(
    result: str, got: Array, want: Array, dtype: str, expected: Expected, *, zeros: bool
) -> Fault | None:
    got, want = got.astype(np.float64), want.astype(np.float64)
    if (fault := _nonfinite(result, got, want)) is not None:
        return fault
    finite = np.isfinite(want)
    deviation = np.abs(np.subtract(got, want, out=np.zeros(want.shape), where=finite))
    nonzero = (want == 0) & (got != 0) & zeros
    if dtype == "bfloat16":
        if nonzero.any():
            return report(result, got, want, nonzero)
        allowed = RELATIVE_BF16 * float(np.linalg.norm(want[finite]))
        if float(np.linalg.norm(deviation)) <= allowed:
            return None
        allowed /= math.sqrt(max(1, int(finite.sum())))
        return report(result, got, want, deviation > allowed, allowed)
    allowed = allowance(
        dtype,
        want,
        lambda: [real_parts(array_of(m)).astype(np.float64) for m in expected.moved()],
        deviation,
    )
    return report(result, got, want, (deviation > allowed) | nonzero, allowed)


def allowance(
    dtype: str, want: Array, moved: Callable[[], list[Array]], deviation: Array | None = None
) -> float:
    """The width of the band around the expected float64 values of a case of that dtype.

    `moved` gives the expected values after nudging the inputs.  That is costly, and not done where
    the absolute `deviation` is small enough without it.
    """
    scale = largest(want)
    epsilon = float(np.finfo(np.float32 if dtype == "float32" else np.float64).eps)
    floor = SAFETY * ULPS * epsilon * scale
    if dtype != "float32":
        floor = max(floor, RELATIVE_64 * scale)
    if deviation is not None and float(deviation.max(initial=0.0)) <= floor:
        return floor
    effect = 0.0
    for other in moved():
        effect = max(effect, largest(other - want))
    return max(floor, SAFETY * (effect + ULPS * epsilon * scale))


def _scalar(result: str, observed: Value, expected: Expected, *, exact: bool) -> Fault | None:
    native = expected.native
    if native is None or isinstance(native, (str, bool, np.bool_)):
        plain = bool(observed) if isinstance(observed, np.bool_) else observed
        wanted = bool(native) if isinstance(native, np.bool_) else native
        alike = type(plain) is type(wanted) and plain == wanted
        return None if alike else _of_type(result, observed, describe(native))
    if isinstance(observed, (np.ndarray, Tensor)) and array_of(observed).ndim == 0:
        observed = array_of(observed)[()]
    is_complex = isinstance(native, np.complexfloating)
    numbers = (int, float, np.integer, np.inexact if is_complex else np.floating)
    if isinstance(observed, (bool, np.bool_)) or not isinstance(observed, numbers):
        return _of_type(result, observed, describe(native))
    if is_complex:
        array = replace(expected, native=np.asarray(native))
        return _array(result, np.asarray(observed, native.dtype), array, exact=exact, zeros=False)
    if isinstance(native, (int, np.integer)):  # integral floats are fine; exact at any size
        return None if observed == native else _different(result, observed, native)
    got, want = float(observed), float(native if exact else expected.precise)
    off = deviations(np.asarray(got), np.asarray(want))
    if off is None:
        found, wanted = number(got), number(want)
        return Fault(result, f"{result} is {found}, expected {wanted}", "nonfinite", found, wanted)
    if exact:
        allowed = 0.0
    elif expected.dtype == "bfloat16":
        allowed = RELATIVE_BF16 * abs(want)
    else:
        allowed = allowance(
            expected.dtype,
            np.asarray(want),
            lambda: [np.asarray(float(m)) for m in expected.moved()],
            off,
        )
    return _different(result, got, want, allowed or None) if (off > allowed).any() else None


def _different(
    result: str, observed: Value, expected: Value, allowed: float | None = None
) -> Fault:
    got, want = numbers_apart(observed, expected)
    text = None if allowed is None else band(allowed)
    sentence = f"{result} is {got}, expected {want}"
    return Fault(result, sentence, "values", got, want, text, None, 1, 1)


def report(
    result: str, got: Array, want: Array, wrong: Array, allowed: Array | float | None = None
) -> Fault | None:
    """A fault about the entries that are wrong, if any; it points at the first of the worst.

    All arrays have one shape; `allowed` is None where entries have to be equal.
    """
    if not wrong.any():
        return None
    with np.errstate(all="ignore"):
        size = np.where(wrong, np.abs(got.astype(np.float64) - want.astype(np.float64)), -1.0)
    worst = int(np.argmax(np.where(np.isnan(size), np.inf, size)))
    at = tuple(int(i) for i in np.unravel_index(worst, wrong.shape))
    observed, expected = numbers_apart(got[at], want[at])
    count, total = int(wrong.sum()), int(wrong.size)
    sentence = f"{result} differs in {count:,} of {total:,} {'entry' if total == 1 else 'entries'}"
    return Fault(
        result, sentence, "values", observed, expected,
        None if allowed is None else band(float(np.broadcast_to(allowed, wrong.shape)[at])),
        at, count, total, (got, want, wrong),
    )  # fmt: skip


def _of_parts(value: Value) -> str:
    """The dtype of the numbers in an array or a tensor, that of both parts of a complex one."""
    dtype = dtype_of(value)
    return {"complex64": "float32", "complex128": "float64"}.get(dtype, dtype)


def _equal(a: Array, b: Array) -> Array:
    same = a == b
    return np.asarray(same | (np.isnan(a) & np.isnan(b)) if a.dtype.kind in "fc" else same)


def _of_type(result: str, observed: Value, expected: str, note: str = "") -> Fault:
    found = describe(observed)
    return Fault(result, f"{result} is {found}{note}, expected {expected}", "type", found, expected)


def excess(observed: Value, wanted: Expected) -> float:
    """The worst deviation of a result over what is allowed; infinity for anything but numbers."""
    native = wanted.native
    if isinstance(native, (dict, list, tuple)):
        keys = keys_of(observed, native)
        parts = (excess(observed[key], wanted.part(key)) for key in keys or ())
        return math.inf if keys is None else max(parts, default=0.0)
    dtype = _of_parts(native) if isinstance(native, (np.ndarray, Tensor)) else wanted.dtype
    got, want = _floats(observed), _floats(wanted.precise)
    if got is None or want is None or _floats(native) is None:
        same = observed is None if native is None else bool(np.array_equal(observed, native))
        return 0.0 if same else math.inf
    deviation = deviations(got, want)
    if deviation is None or not deviation.any():
        return math.inf if deviation is None else 0.0
    if dtype == "bfloat16":
        off = float(np.linalg.norm(deviation))
        allowed = RELATIVE_BF16 * float(np.linalg.norm(want[np.isfinite(want)]))
    else:
        moved = [m for m in map(_floats, wanted.moved()) if m is not None]
        off, allowed = float(deviation.max()), allowance(dtype, want, lambda: moved)
    return off / allowed if allowed > 0 else math.inf


def _floats(value: Value) -> Array | None:
    """The real numbers in a result as float64, two of them for a complex one."""
    if isinstance(value, (float, np.inexact, np.ndarray, Tensor)):
        array = real_parts(array_of(value))
        if array.dtype.kind == "f":
            return np.asarray(array, np.float64)
    return None
