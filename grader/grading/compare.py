"""Decide whether a result agrees with the reference, say where it does not, and how far off it is.

Order: type, shape, dtype, finiteness, values.  How far a value may be off is the business of
`bands`, and what is expected that of `expected`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from grader.cases.draw import Array
from grader.cases.recipe import CaseRecipe
from grader.grading.evaluation import Evaluation
from grader.grading.tolerance_bands import (
    ExpectedResult,
    allowed_by_check,
    bfloat16_norm,
    expected_result,
    tolerance_band,
)
from grader.grading.values import (  # fmt: skip
    Value,
    as_real_array,
    describe_value,
    dtype_of,
    format_dict_keys,
    item_keys,
    to_array,
)
from grader.model.number_format import (
    format_band,
    format_distinct_numbers,
    format_number,
    format_shape,
)
from grader.model.report import Mismatch
from grader.model.spec import Check
from grader.sandbox.messages import Outcome
from grader.sandbox.worker.wire import Tensor


@dataclass(frozen=True, slots=True)
class ResultMismatch:
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

    def to_report(self, case: str) -> Mismatch:
        """What a report on a case says of it."""
        return Mismatch(
            self.result, case, self.index, self.observed, self.expected, self.allowed,
            self.wrong, self.total,
        )  # fmt: skip


def find_mismatch(
    evaluation: Evaluation,
    run: str,
    case: CaseRecipe,
    result: str,
    outcome: Outcome,
    *,
    draw_index: int = 0,
    exact: bool = False,
    zeros: bool = False,
    check: Check | None = None,
) -> ResultMismatch | None:
    """How a result differs from the reference's, if it does; see `compare` and `expected`."""
    wanted = expected_result(evaluation, run, case, result, draw_index=draw_index, check=check)
    return compare_result(result, outcome.values.get(result), wanted, exact=exact, zeros=zeros)


def compare_result(
    result: str,
    observed: Value,
    expected: ExpectedResult,
    *,
    exact: bool = False,
    zeros: bool = False,
) -> ResultMismatch | None:
    """Return the first fault of a result, or None when it agrees.

    `exact`: values must be equal.  `zeros`: they must be exactly zero wherever the expected ones
    are, and stay so when the inputs are nudged: a zero by structure, not one in which numbers
    happen to cancel.
    """
    native = expected.native
    if isinstance(native, (np.ndarray, Tensor)):
        return _array(result, observed, expected, exact=exact, zeros=zeros)
    if not isinstance(native, (dict, list, tuple)):
        return _scalar(result, observed, expected, exact=exact)
    if (keys := item_keys(observed, native)) is None:
        is_dict = isinstance(native, dict)
        wanted = f" with {', '.join(native)}" if is_dict else f" of {len(native)}"
        note = format_dict_keys(observed) if is_dict else ""
        return _of_type(result, observed, f"a {type(native).__name__}{wanted}", note)
    faults = (
        compare_result(
            f"{result}[{key!r}]", observed[key], expected.item_at(key), exact=exact, zeros=zeros
        )
        for key in keys
    )
    return next(filter(None, faults), None)


def _array(
    result: str, observed: Value, expected: ExpectedResult, *, exact: bool, zeros: bool
) -> ResultMismatch | None:
    native = expected.native
    if type(observed) is not type(native) and not (
        isinstance(observed, np.generic) and isinstance(native, np.ndarray) and native.ndim == 0
    ):
        return _of_type(result, observed, describe_value(native))
    got, want = to_array(observed), to_array(native)
    found, wanted = dtype_of(observed), dtype_of(native)
    if got.shape != want.shape:
        has, needs = format_shape(got.shape), format_shape(want.shape)
        return ResultMismatch(
            result, f"{result} has shape {has}, expected {needs}", "shape", has, needs
        )
    if found != wanted:
        return ResultMismatch(
            result, f"{result} is {found}, expected {wanted}", "dtype", found, wanted
        )
    precise = to_array(expected.precise)
    if got.dtype.kind == "c":  # both parts count: compare them as two numbers
        wanted = _of_parts(native)
        got, want, precise = (as_real_array(a) for a in (got, want, precise))
    if got.dtype.kind == "f" and (fault := _nonfinite(result, got, want)) is not None:
        return fault
    if got.dtype.kind != "f" or exact:
        wrong = ~_equal(got, want)
        tolerance = expected.tolerance
        if tolerance is None or got.dtype.kind not in "iu":
            return mismatch_of_entries(result, got, want, wrong)
        got, want = got.astype(np.float64), want.astype(np.float64)
        allowed = allowed_by_check(tolerance, want)
        wrong &= np.abs(got - want) > allowed
        return mismatch_of_entries(result, got, want, wrong, allowed)
    return _numbers(result, got, precise, wanted, expected, zeros=zeros)


def _nonfinite(result: str, got: Array, want: Array) -> ResultMismatch | None:
    """NaN or infinity where a number is expected, or the other way round."""
    odd = np.where(np.isfinite(want), ~np.isfinite(got), ~_equal(got, want))
    fault = mismatch_of_entries(result, got, want, odd)
    if fault is None:
        return None
    found, wanted = format_number(float(got[fault.index])), format_number(float(want[fault.index]))
    sentence = f"{result} holds {found} where {wanted} is expected"
    return replace(fault, sentence=sentence, kind="nonfinite")


def _numbers(
    result: str, got: Array, want: Array, dtype: str, expected: ExpectedResult, *, zeros: bool
) -> ResultMismatch | None:
    got, want = got.astype(np.float64), want.astype(np.float64)
    if (fault := _nonfinite(result, got, want)) is not None:
        return fault
    finite = np.isfinite(want)
    deviation = np.abs(np.subtract(got, want, out=np.zeros(want.shape), where=finite))
    nonzero = (want == 0) & (got != 0) & zeros
    if nonzero.any():
        nonzero &= np.logical_and.reduce([m == 0 for m in expected.nudged_floats()])
    tolerance = expected.tolerance
    given = np.zeros(want.shape) if tolerance is None else allowed_by_check(tolerance, want)
    if dtype == "bfloat16":
        if nonzero.any():
            return mismatch_of_entries(result, got, want, nonzero)
        deviation = np.where(deviation <= given, 0.0, deviation)
        norm = bfloat16_norm(want[finite], expected.input_scale)
        if float(np.linalg.norm(deviation)) <= norm:
            return None
        allowed = np.maximum(norm / math.sqrt(max(1, int(finite.sum()))), given)
        return mismatch_of_entries(result, got, want, deviation > allowed, allowed)
    left = np.where(deviation <= given, 0.0, deviation)
    allowed = np.maximum(
        tolerance_band(dtype, want, expected.nudged_floats, left, expected.input_scale), given
    )
    return mismatch_of_entries(result, got, want, (deviation > allowed) | nonzero, allowed)


def _scalar(
    result: str, observed: Value, expected: ExpectedResult, *, exact: bool
) -> ResultMismatch | None:
    native = expected.native
    if native is None or isinstance(native, (str, bool, np.bool_)):
        plain = bool(observed) if isinstance(observed, np.bool_) else observed
        wanted = bool(native) if isinstance(native, np.bool_) else native
        alike = type(plain) is type(wanted) and plain == wanted
        return None if alike else _of_type(result, observed, describe_value(native))
    if isinstance(observed, (np.ndarray, Tensor)) and to_array(observed).ndim == 0:
        observed = to_array(observed)[()]
    is_complex = isinstance(native, np.complexfloating)
    numbers = (int, float, np.integer, np.inexact if is_complex else np.floating)
    if isinstance(observed, (bool, np.bool_)) or not isinstance(observed, numbers):
        return _of_type(result, observed, describe_value(native))
    if is_complex:
        array = replace(expected, native=np.asarray(native))
        return _array(result, np.asarray(observed, native.dtype), array, exact=exact, zeros=False)
    tolerance, whole = expected.tolerance, isinstance(native, (int, np.integer))
    if whole and observed == native:  # integral floats are fine; exact at any size
        return None
    if whole and (exact or tolerance is None):
        found, wanted = format_distinct_numbers(observed, native)
        fault: ResultMismatch | None = ResultMismatch(
            result, "", "values", found, wanted, wrong=1, total=1
        )
    else:
        got, want = (
            np.asarray(float(v)) for v in (observed, native if exact else expected.precise)
        )
        if not (exact or whole):
            fault = _numbers(result, got, want, expected.dtype, expected, zeros=False)
        elif (fault := _nonfinite(result, got, want)) is None:
            wrong, allowed = ~_equal(got, want), None
            if tolerance is not None and not exact:
                allowed = allowed_by_check(tolerance, want)
                wrong &= np.abs(got - want) > allowed
            fault = mismatch_of_entries(result, got, want, wrong, allowed)
    if fault is None:
        return None
    sentence = f"{result} is {fault.observed}, expected {fault.expected}"
    return replace(fault, sentence=sentence, index=None, arrays=None)


def mismatch_of_entries(
    result: str, got: Array, want: Array, wrong: Array, allowed: Array | float | None = None
) -> ResultMismatch | None:
    """A fault about the entries that are wrong, if any; it points at the first of the worst.

    All arrays have one shape; `allowed` is None where entries have to be equal.
    """
    if not wrong.any():
        return None
    with np.errstate(all="ignore"):
        size = np.where(wrong, np.abs(got.astype(np.float64) - want.astype(np.float64)), -1.0)
    worst = int(np.argmax(np.where(np.isnan(size), np.inf, size)))
    at = tuple(int(i) for i in np.unravel_index(worst, wrong.shape))
    observed, expected = format_distinct_numbers(got[at], want[at])
    count, total = int(wrong.sum()), int(wrong.size)
    sentence = f"{result} differs in {count:,} of {total:,} {'entry' if total == 1 else 'entries'}"
    return ResultMismatch(
        result, sentence, "values", observed, expected,
        None if allowed is None else format_band(float(np.broadcast_to(allowed, wrong.shape)[at])),
        at, count, total, (got, want, wrong),
    )  # fmt: skip


def _of_parts(value: Value) -> str:
    """The dtype of the numbers in an array or a tensor, that of both parts of a complex one."""
    dtype = dtype_of(value)
    return {"complex64": "float32", "complex128": "float64"}.get(dtype, dtype)


def _equal(a: Array, b: Array) -> Array:
    same = a == b
    return np.asarray(same | (np.isnan(a) & np.isnan(b)) if a.dtype.kind in "fc" else same)


def _of_type(result: str, observed: Value, expected: str, note: str = "") -> ResultMismatch:
    found = describe_value(observed)
    return ResultMismatch(
        result, f"{result} is {found}{note}, expected {expected}", "type", found, expected
    )
