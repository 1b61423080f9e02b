"""Digest the wrong results of a submission, to find submissions with equal wrong results.

Two programs with the same wrong idea have one digest, even if they are written differently; two
ideas have two digests.  All wrong results of the failing checks count.  If no result is wrong, what
the checks have measured counts.
"""

from __future__ import annotations

import contextlib
import hashlib
import math
from collections.abc import Collection, Iterator

import numpy as np

from grader.cases.draw import Array
from grader.explain.components import FailedGrade, observe_component
from grader.grading.bank_errors import BankProgramError
from grader.grading.values import (
    RELATIVE_TOLERANCES,
    Value,
    dtype_of,
    item_keys,
    largest_magnitude,
    to_array,
)
from grader.model.report import NON_FAILING_VERDICTS
from grader.sandbox import OutOfTime
from grader.sandbox.client import WorkerError
from grader.sandbox.worker.wire import Opaque, Tensor

DIGEST_LENGTH = 16  # hexadecimal digits

# Deviations are counted in steps, because rounding must not change a digest.  A step is a share of
# the largest deviation; dtypes less precise than float64 need coarse steps.
FINE_STEP = 1e-4
COARSE_STEP = 0.02
MIN_RELATIVE_STEP = 1e-7  # of the largest expected entry; below this, only rounding differs

# Computing in float32 inside a float64 function gives any deviation up to this share of the
# largest expected entry.
MAX_INNER_FLOAT32_DEVIATION = 3e-6

# Added before rounding down.  Then common numbers such as 0.5, 1/3 and 2e-5 are not halfway
# between two steps.
STEP_OFFSET = 0.23606797749978969

DIRECTIONS = 4  # number of projections that describe the deviations of an imprecise array
MAX_ENTRIES = 1 << 18  # entries of one array that are read


def failure_digest(grade: FailedGrade) -> str:
    """Return a digest of the wrong results, or of the failing measures if no result is wrong.

    It is "" if no check failed after measuring, if time is over, or if a process ends.
    """
    failing_messages = {
        check.id: check.message
        for check in grade.checks
        if check.verdict not in NON_FAILING_VERDICTS and (check.cases or check.figures)
    }
    with contextlib.suppress(OutOfTime, BankProgramError, WorkerError):
        texts = list(_wrong_results(grade, failing_messages.keys()))
        if not texts:
            texts = _measures(grade, failing_messages)
        if texts:
            text = "\n".join(sorted(texts))
            return hashlib.sha256(text.encode()).hexdigest()[:DIGEST_LENGTH]
    return ""


def _wrong_results(grade: FailedGrade, failing_checks: Collection[str]) -> Iterator[str]:
    """Yield a text for every wrong result on a case of a failing check."""
    submission = grade.submission_evaluation
    for component in grade.value_components:
        for case in component.cases:
            if component.is_dtype or set(failing_checks).isdisjoint(component.checks[case]):
                continue
            dtype = submission.cases[case].dtype
            expected = observe_component(grade.reference, component, case)
            actual = observe_component(submission, component, case)
            text = _value_text(actual, expected, dtype)
            if text != _value_text(expected, expected, dtype):
                yield f"{component.run} {case} {component.name} {text}"


def _measures(grade: FailedGrade, failing_messages: dict[str, str]) -> list[str]:
    """Return a text for each failing check: its id, and its message unless style changes it."""
    varying = {
        component.measured_by.id
        for component in grade.all_components
        if component.measured_by and component.varies_with_style
    }
    texts = []
    for check, message in failing_messages.items():
        texts.append(f"{check} {'' if check in varying else message}")
    return texts


def _value_text(actual: Value, expected: Value, case_dtype: str) -> str:
    """Return a text on a value; equal deviations from the expected numbers give equal texts."""
    match actual:
        case None | bool() | np.bool_() | str():
            return f"{type(actual).__name__} {len(str(actual))} {actual};"
        case Opaque(type=name):
            return f"an object {len(name)} {name};"
        case dict() | list() | tuple():
            return _container_text(actual, expected, case_dtype)
        case _:
            return _number_text(actual, expected, case_dtype)


def _container_text(actual: Value, expected: Value, case_dtype: str) -> str:
    """Return the text of a dict, list or tuple, made of the texts of its items."""
    is_dict = isinstance(actual, dict)
    keys = sorted(actual if is_dict else range(len(actual)), key=str)
    has_same_keys = expected is not None and item_keys(actual, expected) is not None
    items = []
    for key in keys:
        expected_item = expected[key] if has_same_keys else None
        item = _value_text(actual[key], expected_item, case_dtype)
        items.append(f"{len(str(key))} {key}:{item}")
    return f"{'dict' if is_dict else 'list'} {len(keys)}({''.join(items)})"


def _number_text(actual: Value, expected: Value, case_dtype: str) -> str:
    """Return the text of an array or a number: its type, and its deviation if it is known."""
    array = to_array(actual)
    is_array = isinstance(actual, (np.ndarray, Tensor))
    # Outside an array, 2.0 and 2 are the same number.
    form = "number"
    if is_array:
        form = f"{type(actual).__name__} {array.shape} {array.dtype.kind}"
    if array.dtype.kind not in "fiu":
        return f"{form} {hashlib.sha256(np.ascontiguousarray(array).tobytes()).hexdigest()};"
    expected_array = _comparable_array(array, actual, expected)
    dtype = case_dtype
    if is_array:
        dtypes = [dtype_of(actual), dtype if expected_array is None else dtype_of(expected)]
        dtype = max(dtypes, key=lambda name: RELATIVE_TOLERANCES.get(name, 0.0))
    if expected_array is None:
        expected_array = np.zeros_like(array)
    text = _deviation_text(array, expected_array, dtype)
    if is_array and text in {"right", "nearly"}:  # then only the dtype may be wrong
        text = f"{dtype_of(actual)} {text}"
    return f"{form} {text};"


def _comparable_array(array: Array, actual: Value, expected: Value) -> Array | None:
    """Return the expected numbers if they have the shape of the actual ones, else None."""
    if not isinstance(expected, (type(actual), float, int)):
        return None
    expected_array = to_array(expected)
    if expected_array.shape != array.shape or expected_array.dtype.kind not in "fiu":
        return None
    return expected_array


def _deviation_text(actual: Array, expected: Array, dtype: str) -> str:
    """Return a text on the deviation from the expected numbers; rounding does not change it.

    It is "right", "nearly" (as after float32), "wrong", "overflow", or a digest of the deviations;
    a digest of the places of NaN and infinity follows if they differ.
    """
    stride = max(1, -(-actual.size // MAX_ENTRIES))
    actual = actual.reshape(-1)[::stride].astype(np.float64)
    expected = expected.reshape(-1)[::stride].astype(np.float64)

    nonfinite = _nonfinite_codes(actual)
    same_places = np.array_equal(nonfinite, _nonfinite_codes(expected))
    places = "" if same_places else _digest(nonfinite)

    both_finite = np.isfinite(actual) & np.isfinite(expected)
    unmatched = np.where(nonfinite == 0, actual, 0.0)
    deviation = np.subtract(actual, expected, out=unmatched, where=both_finite)
    if not np.isfinite(deviation).all():
        return f"overflow {places}"

    scale = largest_magnitude(expected)
    largest = largest_magnitude(deviation)
    tolerance = RELATIVE_TOLERANCES.get(dtype, RELATIVE_TOLERANCES["float64"])
    if largest <= tolerance * (scale or 1.0):
        return places or "right"
    if tolerance > RELATIVE_TOLERANCES["float32"]:
        return f"wrong {places}"
    if tolerance > RELATIVE_TOLERANCES["float64"]:
        return f"{_projections(deviation)} {places}"
    if largest <= MAX_INNER_FLOAT32_DEVIATION * scale:
        return f"nearly {places}".rstrip()
    step = max(FINE_STEP, MIN_RELATIVE_STEP * scale / largest)
    steps = np.floor(deviation / largest / step + STEP_OFFSET).astype(np.int64)
    return f"{_count_steps(math.log(largest), step)} {_digest(steps)} {places}"


def _nonfinite_codes(array: Array) -> Array:
    """Return an array with 1 for NaN, 2 for infinity, 3 for minus infinity and 0 for the rest."""
    codes: Array = np.isnan(array) + 2 * np.isposinf(array) + 3 * np.isneginf(array)
    return codes


def _projections(deviation: Array) -> list[int]:
    """Return the log of the norm of a deviation, and four projections, all in coarse steps."""
    norm = float(np.linalg.norm(deviation))
    order = np.arange(1, deviation.size + 1, dtype=np.float64)
    numbers = [math.log(norm)]
    for direction in range(DIRECTIONS):
        wave = np.sin(order * math.sqrt(direction + 2))
        numbers.append(float(deviation @ wave) / norm)
    return [_count_steps(number, COARSE_STEP) for number in numbers]


def _digest(array: Array) -> str:
    if not array.any():
        return "0"
    return hashlib.sha256(array.astype(np.int64).tobytes()).hexdigest()


def _count_steps(value: float, step: float) -> int:
    return math.floor(value / step + STEP_OFFSET)
