"""Compare a result with the reference's, and describe the first mismatch.

Type, shape, dtype, finiteness and values are compared in this order.  `tolerance_bands` has the
expected value and how far a result may be from it.
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
from grader.grading.values import (
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
    format_count,
    format_distinct_numbers,
    format_number,
    format_shape,
)
from grader.model.report import Mismatch
from grader.model.spec import Tolerance
from grader.sandbox.messages import Outcome
from grader.sandbox.worker.wire import Tensor


@dataclass(frozen=True, slots=True)
class ResultMismatch:
    """One result that differs from the expected one on a case."""

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
        """Return the mismatch as a report has it, with the name of the case."""
        return Mismatch(
            result=self.result,
            case=case,
            index=self.index,
            observed=self.observed,
            expected=self.expected,
            allowed=self.allowed,
            wrong=self.wrong,
            total=self.total,
        )


def find_mismatch(
    evaluation: Evaluation,
    run: str,
    case: CaseRecipe,
    result: str,
    outcome: Outcome,
    *,
    exact: bool = False,
    exact_zeros: bool = False,
) -> ResultMismatch | None:
    """Return how a result differs from the reference's; None if it agrees."""
    expected = expected_result(evaluation, run, case, result)
    expected = replace(expected, exact=exact, exact_zeros=exact_zeros)
    return compare_result(result, outcome.values.get(result), expected)


def compare_result(result: str, observed: Value, expected: ExpectedResult) -> ResultMismatch | None:
    """Return how a result differs from the expected one; None if it agrees.

    In a dict, list or tuple, this is the first item that differs.
    """
    native = expected.native
    if isinstance(native, (np.ndarray, Tensor)):
        return _compare_arrays(result, observed, expected)
    if not isinstance(native, (dict, list, tuple)):
        return _compare_scalars(result, observed, replace(expected, exact_zeros=False))
    keys = item_keys(observed, native)
    if keys is None:
        content = f"of {len(native)}"
        note = ""
        if isinstance(native, dict):
            content = f"with {', '.join(native)}"
            note = format_dict_keys(observed)
        return _type_mismatch(result, observed, f"a {type(native).__name__} {content}", note)
    for key in keys:
        item = f"{result}[{key!r}]"
        mismatch = compare_result(item, observed[key], expected.item_at(key))
        if mismatch is not None:
            return mismatch
    return None


def _compare_arrays(
    result: str, observed: Value, expected: ExpectedResult
) -> ResultMismatch | None:
    native = expected.native
    is_0d_array = isinstance(native, np.ndarray) and native.ndim == 0
    is_number_for_0d = is_0d_array and isinstance(observed, np.generic)
    if type(observed) is not type(native) and not is_number_for_0d:
        return _type_mismatch(result, observed, describe_value(native))

    actual_array = to_array(observed)
    native_array = to_array(native)
    if actual_array.shape != native_array.shape:
        actual_shape = format_shape(actual_array.shape)
        shape = format_shape(native_array.shape)
        sentence = f"{result} has shape {actual_shape}, expected {shape}"
        return ResultMismatch(result, sentence, "shape", observed=actual_shape, expected=shape)
    actual_dtype = dtype_of(observed)
    dtype = dtype_of(native)
    if actual_dtype != dtype:
        sentence = f"{result} is {actual_dtype}, expected {dtype}"
        return ResultMismatch(result, sentence, "dtype", observed=actual_dtype, expected=dtype)

    precise_array = to_array(expected.precise)
    if actual_array.dtype.kind == "c":  # compare both parts, as two real numbers
        dtype = {"complex64": "float32", "complex128": "float64"}.get(dtype, dtype)
        actual_array = as_real_array(actual_array)
        native_array = as_real_array(native_array)
        precise_array = as_real_array(precise_array)
    if actual_array.dtype.kind == "f":
        mismatch = _nonfinite_mismatch(result, actual_array, native_array)
        if mismatch is not None or expected.exact:
            return mismatch or _unequal_entries(result, actual_array, native_array)
        return _compare_floats(result, actual_array, precise_array, dtype, expected)
    if expected.tolerance is None or actual_array.dtype.kind not in "iu":
        return _unequal_entries(result, actual_array, native_array)
    actual_array = actual_array.astype(np.float64)
    native_array = native_array.astype(np.float64)
    return _beyond_tolerance(result, actual_array, native_array, expected.tolerance)


def _unequal_entries(result: str, actual: Array, expected: Array) -> ResultMismatch | None:
    wrong = ~_equal_entries(actual, expected)
    return mismatch_of_entries(result, actual, expected, wrong)


def _beyond_tolerance(
    result: str, actual: Array, expected: Array, tolerance: Tolerance
) -> ResultMismatch | None:
    """Return a mismatch if any entries differ by more than a check's tolerance allows."""
    allowed = allowed_by_check(tolerance, expected)
    wrong = ~_equal_entries(actual, expected) & (np.abs(actual - expected) > allowed)
    return mismatch_of_entries(result, actual, expected, wrong, allowed)


def _nonfinite_mismatch(result: str, actual: Array, expected: Array) -> ResultMismatch | None:
    """Return a mismatch if NaN or an infinity is unexpected, missing, or not the expected one."""
    wrong = np.where(np.isfinite(expected), ~np.isfinite(actual), ~_equal_entries(actual, expected))
    mismatch = mismatch_of_entries(result, actual, expected, wrong)
    if mismatch is None:
        return None
    actual_text = format_number(float(actual[mismatch.index]))
    expected_text = format_number(float(expected[mismatch.index]))
    sentence = f"{result} holds {actual_text} where {expected_text} is expected"
    return replace(mismatch, sentence=sentence, kind="nonfinite")


def _compare_floats(
    result: str, actual: Array, precise: Array, dtype: str, expected: ExpectedResult
) -> ResultMismatch | None:
    """Return a mismatch if entries are further from the precise expected ones than allowed."""
    actual = actual.astype(np.float64)
    precise = precise.astype(np.float64)
    mismatch = _nonfinite_mismatch(result, actual, precise)
    if mismatch is not None:
        return mismatch
    finite = np.isfinite(precise)
    deviation = np.abs(np.subtract(actual, precise, out=np.zeros(precise.shape), where=finite))
    not_zero = (precise == 0) & (actual != 0) & expected.exact_zeros
    if not_zero.any():
        stays_zero = [moved == 0 for moved in expected.nudged_floats()]
        not_zero &= np.logical_and.reduce(stays_zero)
    allowed = np.zeros(precise.shape)
    if expected.tolerance is not None:
        allowed = allowed_by_check(expected.tolerance, precise)
    if dtype == "bfloat16" and not_zero.any():
        return mismatch_of_entries(result, actual, precise, not_zero)
    deviation_beyond = np.where(deviation <= allowed, 0.0, deviation)
    if dtype == "bfloat16":
        norm = bfloat16_norm(precise[finite], expected.input_scale)
        if float(np.linalg.norm(deviation_beyond)) <= norm:
            return None
        allowed = np.maximum(norm / math.sqrt(max(1, int(finite.sum()))), allowed)
        wrong = deviation_beyond > allowed
    else:
        band = tolerance_band(
            dtype, precise, expected.nudged_floats, deviation_beyond, expected.input_scale
        )
        allowed = np.maximum(band, allowed)
        wrong = (deviation > allowed) | not_zero
    return mismatch_of_entries(result, actual, precise, wrong, allowed)


def _compare_scalars(
    result: str, observed: Value, expected: ExpectedResult
) -> ResultMismatch | None:
    native = expected.native
    if native is None or isinstance(native, (str, bool, np.bool_)):
        actual_plain = bool(observed) if isinstance(observed, np.bool_) else observed
        plain = bool(native) if isinstance(native, np.bool_) else native
        if type(actual_plain) is type(plain) and actual_plain == plain:
            return None
        return _type_mismatch(result, observed, describe_value(native))

    if isinstance(observed, (np.ndarray, Tensor)) and to_array(observed).ndim == 0:
        observed = to_array(observed)[()]
    is_complex = isinstance(native, np.complexfloating)
    number_types = (int, float, np.integer, np.inexact if is_complex else np.floating)
    if isinstance(observed, (bool, np.bool_)) or not isinstance(observed, number_types):
        return _type_mismatch(result, observed, describe_value(native))
    if is_complex:
        array = replace(expected, native=np.asarray(native))
        observed_array = np.asarray(observed, native.dtype)
        return _compare_arrays(result, observed_array, array)

    if isinstance(native, (int, np.integer)):
        mismatch = _compare_with_integer(result, observed, expected)
    else:
        mismatch = _compare_with_float(result, observed, expected)
    if mismatch is None:
        return None
    sentence = f"{result} is {mismatch.observed}, expected {mismatch.expected}"
    return replace(mismatch, sentence=sentence, index=None, arrays=None)


def _compare_with_integer(
    result: str, observed: Value, expected: ExpectedResult
) -> ResultMismatch | None:
    """Compare a number with an expected integer; a float such as 3.0 may be equal to it."""
    native = expected.native
    if observed == native:  # exact at any size
        return None
    tolerance = expected.tolerance
    if expected.exact or tolerance is None:
        actual_text, expected_text = format_distinct_numbers(observed, native)
        return ResultMismatch(result, "", "values", actual_text, expected_text, wrong=1, total=1)
    actual = np.asarray(float(observed))
    precise = np.asarray(float(expected.precise))
    mismatch = _nonfinite_mismatch(result, actual, precise)
    return mismatch or _beyond_tolerance(result, actual, precise, tolerance)


def _compare_with_float(
    result: str, observed: Value, expected: ExpectedResult
) -> ResultMismatch | None:
    actual = np.asarray(float(observed))
    if not expected.exact:
        precise = np.asarray(float(expected.precise))
        return _compare_floats(result, actual, precise, expected.dtype, expected)
    native = np.asarray(float(expected.native))
    return _nonfinite_mismatch(result, actual, native) or _unequal_entries(result, actual, native)


def mismatch_of_entries(
    result: str, actual: Array, expected: Array, wrong: Array, allowed: Array | float | None = None
) -> ResultMismatch | None:
    """Return a mismatch if any entries are wrong; it points at the entry that is furthest off.

    All arrays have one shape; without `allowed`, entries have to be equal.
    """
    if not wrong.any():
        return None
    with np.errstate(all="ignore"):
        deviation = np.abs(actual.astype(np.float64) - expected.astype(np.float64))
        size = np.where(wrong, deviation, -1.0)
    worst = int(np.argmax(np.where(np.isnan(size), np.inf, size)))
    index = tuple(map(int, np.unravel_index(worst, wrong.shape)))
    actual_text, expected_text = format_distinct_numbers(actual[index], expected[index])
    allowed_text = None
    if allowed is not None:
        allowed_text = format_band(float(np.broadcast_to(allowed, wrong.shape)[index]))
    count = int(wrong.sum())
    total = int(wrong.size)
    return ResultMismatch(
        result=result,
        sentence=f"{result} differs in {count:,} of {format_count(total, 'entry', 'entries')}",
        kind="values",
        observed=actual_text,
        expected=expected_text,
        allowed=allowed_text,
        index=index,
        wrong=count,
        total=total,
        arrays=(actual, expected, wrong),
    )


def _equal_entries(a: Array, b: Array) -> Array:
    """Return a mask, True for each pair of equal entries; NaN equals NaN."""
    equal = a == b
    if a.dtype.kind in "fc":
        equal = equal | (np.isnan(a) & np.isnan(b))
    return np.asarray(equal)


def _type_mismatch(result: str, observed: Value, expected: str, note: str = "") -> ResultMismatch:
    description = describe_value(observed)
    sentence = f"{result} is {description}{note}, expected {expected}"
    return ResultMismatch(result, sentence, "type", observed=description, expected=expected)
