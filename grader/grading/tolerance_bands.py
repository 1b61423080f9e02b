"""The expected value of a result, and the allowed band: how far each entry may be from it.

A result has three sizes.  Its *scale* S is its largest magnitude.  The *effect* on an entry is its
change if every input moves by one unit in its last place.  The *input scale* is the size of the
inputs that the result is computed from.  docs/adr/0003-tolerance.md has the measurements.

- The common band is 16 x (largest effect + 4 ulp of S).  In float64 it is at least 1e-10 S.
- In float64 the band of an entry is at most 1e-6 of the entry's own size: its magnitude or, if
  numbers cancel in it, its effect / ulp.  This limit never goes below 16 x the entry's effect or
  1024 ulp of S, because the errors of right algorithms follow the norm (a transform, a blocked
  product).
- The band is at least 1024 ulp of the input scale (16 ulp in float32).
- If S is below 1e-11 of the input scale, only rounding is left of numbers that cancel: 0, or
  1e-74.  It need not agree to the last bit.  So its band is at least 1e-10 of the input scale
  (64 ulp in float32).

A bfloat16 result has one limit for all entries together: `bfloat16_norm`.

The values of float32 and bfloat16 cases are computed in float64 on the rounded inputs, so an answer
more accurate than the reference's own dtype is never wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from grader.cases.draw import Array
from grader.cases.recipe import CaseRecipe, run_inputs, steps_producing
from grader.grading.evaluation import Evaluation
from grader.grading.values import (
    NATIVE,
    NUDGES,
    PRECISE,
    Value,
    as_real_array,
    is_incoming_gradient,
    largest_magnitude,
    to_array,
    to_floats,
)
from grader.model.spec import Check, Tolerance

RELATIVE_64 = 1e-10
RELATIVE_BF16 = 3e-2  # of the norm of a bfloat16 result
SAFETY = 16.0  # right code measured up to 3.6 units of the rounding effect over ten workloads
ULPS = 4.0
OWN_SIZE_SHARE = 1e-6  # largest share of an entry's own size that the common band may be
NORM_ULPS = 1024.0  # allowed error of a small entry, in ulp of the largest one
UNIT_64 = 2.0**-52
VANISHING_SHARE = 1e-11  # of the input scale: a smaller result is left over from cancellation


def ulp_of_one(dtype: str) -> float:
    """Return the unit in the last place of 1: float32's for "float32", else always float64's."""
    return float(np.finfo(np.float32).eps) if dtype == "float32" else UNIT_64


def minimum_tolerance(dtype: str, scale: float, input_scale: float) -> float:
    """Return the tolerance that every entry of a result has at least."""
    ulp = ulp_of_one(dtype)
    if scale > VANISHING_SHARE * input_scale:
        # In float32 results may be small for a reason, which more units would hide.
        units = SAFETY if dtype == "float32" else NORM_ULPS
        return units * ulp * input_scale
    # Such a result only has to be small.
    return max(RELATIVE_64, SAFETY * ULPS * ulp) * input_scale


def tolerance_band(
    dtype: str,
    expected: Array,
    nudged: Callable[[], list[Array]],
    deviation: Array | None = None,
    input_scale: Callable[[], float] = lambda: 0.0,
) -> Array:
    """Return how far each entry of a result may be from the expected value.

    Args:
        dtype: The dtype of the result, or of the case if the result is a Python number.
        expected: The expected values, in float64.
        nudged: Returns the expected values after nudging the inputs. This is costly, and not called
            if the `deviation` is small enough.
        deviation: How far a result is from the expected values. If it is within a band that is
            cheap to compute, this narrower band is returned.
        input_scale: Returns the size of the inputs that the values are computed from.
    """
    scale = largest_magnitude(expected)
    ulp = ulp_of_one(dtype)
    size = np.where(np.isfinite(expected), np.abs(expected), 0.0)
    common = SAFETY * ULPS * ulp * scale
    if dtype != "float32":
        common = max(common, RELATIVE_64 * scale)
    allowed = _limited_by_own_size(dtype, common, size, scale)
    if deviation is not None and (deviation <= allowed).all():
        return allowed

    minimum = minimum_tolerance(dtype, scale, input_scale())
    allowed = np.maximum(allowed, minimum)
    if deviation is not None and (deviation <= allowed).all():
        return allowed

    effect = np.zeros(expected.shape)
    for moved in nudged():
        difference = np.abs(moved - expected)
        effect = np.maximum(effect, np.where(np.isfinite(difference), difference, 0.0))
    common = max(common, SAFETY * (largest_magnitude(effect) + ULPS * ulp * scale))
    with np.errstate(over="ignore"):
        own_size = np.maximum(size, effect / ulp)
    band = np.maximum(_limited_by_own_size(dtype, common, own_size, scale), SAFETY * effect)
    return np.asarray(np.maximum(band, minimum))


def _limited_by_own_size(dtype: str, common: float, own_size: Array, scale: float) -> Array:
    """Return the common band, except in float32 reduced for entries far below the largest."""
    if dtype == "float32":
        return np.full(own_size.shape, common)
    reduced = np.minimum(common, OWN_SIZE_SHARE * own_size)
    return np.asarray(np.maximum(reduced, NORM_ULPS * UNIT_64 * scale))


def allowed_by_check(tolerance: Tolerance, expected: Array) -> Array:
    """Return the deviation that a check's tolerance allows for each of the expected values."""
    size = np.where(np.isfinite(expected), np.abs(expected), 0.0)
    return np.asarray(np.maximum(tolerance.absolute or 0.0, (tolerance.relative or 0.0) * size))


def bfloat16_norm(expected: Array, input_scale: Callable[[], float]) -> float:
    """Return the allowed distance of a bfloat16 result from the expected one (Euclidean norm)."""
    size = float(np.linalg.norm(expected))
    if size <= VANISHING_SHARE * input_scale():
        size = input_scale() * float(np.sqrt(expected.size))
    return RELATIVE_BF16 * size


@dataclass(frozen=True, slots=True)
class ExpectedResult:
    """The expected value of a result, and everything that decides how far it may be off."""

    native: Any  # in the case's dtypes: decides type, dtype and shape
    precise: Any  # in float64: decides the values
    nudged: Callable[[], list[Any]]  # returns the precise values after nudging the inputs; costly
    dtype: str = "float64"  # of the case; a scalar does not have its own
    input_scale: Callable[[], float] = lambda: 0.0  # size of the inputs it is computed from
    tolerance: Tolerance | None = None  # the check's; it widens the band
    exact: bool = False  # values must be equal
    # An entry must be exactly zero if the expected one is, and stays zero when the inputs are
    # nudged.  Other zeros only come from numbers that happen to cancel.
    exact_zeros: bool = False

    def item_at(self, key: str | int) -> ExpectedResult:
        """Return the expected value of one item, if this is a dict, list or tuple."""
        return replace(
            self,
            native=self.native[key],
            precise=self.precise[key],
            nudged=lambda: [moved[key] for moved in self.nudged()],
        )

    def nudged_floats(self) -> list[Array]:
        """Return the values for nudged inputs as floats, without those of another shape or type."""
        shape = as_real_array(to_array(self.precise)).shape
        moved = [to_floats(value) for value in self.nudged()]
        return [array for array in moved if array is not None and array.shape == shape]


def input_scale(
    evaluation: Evaluation, run: str, case: CaseRecipe, result: str, *, draw_index: int = 0
) -> float:
    """Return the input scale of a result: the size of the inputs that it is computed from.

    The size of one input is its largest magnitude.  The input scale is a product of two factors:

    - The smallest size of an incoming gradient (an input called grad_...): a gradient of the
      submission is linear in it.
    - The smallest size of the other inputs, if it is below 1.  A larger one tells nothing: a result
      computed from logits of 1e30 may be a probability.

    Inputs that are all zero do not count; if there are no others, the input scale is 0.  Scalars
    count only if no input is an array of floats.
    """
    names = run_inputs(steps_producing(evaluation.steps(run), result))
    drawn = evaluation.drawn_inputs(case, draw_index)
    sizes = {
        name: largest_magnitude(drawn[name].astype(np.float64))
        for name in names
        if isinstance(drawn[name], np.ndarray) and drawn[name].dtype.kind == "f"
    }
    incoming = [size for name, size in sizes.items() if size and is_incoming_gradient(name)]
    others = [size for name, size in sizes.items() if size and not is_incoming_gradient(name)]
    if not sizes:
        others = [abs(drawn[name]) for name in names if isinstance(drawn[name], float)]
        others = [size for size in others if size]
    if not incoming and not others:
        return 0.0
    return min(incoming, default=1.0) * min([1.0, *others])


def expected_result(
    evaluation: Evaluation,
    run: str,
    case: CaseRecipe,
    result: str,
    *,
    draw_index: int = 0,
    check: Check | None = None,
) -> ExpectedResult:
    """Return the reference's result, and everything that decides how far a result may be off.

    The tolerance is that of `check` (default: the first that any check has for the result).
    """

    def reference_value(mode: str) -> Value:
        outcome = evaluation.reference_outcome(run, case, draw_index=draw_index, mode=mode)
        return outcome.values[result]

    precise = reference_value(NATIVE if case.dtype == "float64" else PRECISE)
    return ExpectedResult(
        native=reference_value(NATIVE),
        precise=precise,
        nudged=lambda: [reference_value(mode) for mode in NUDGES],
        dtype=case.dtype,
        input_scale=lambda: input_scale(evaluation, run, case, result, draw_index=draw_index),
        tolerance=_first_tolerance(evaluation.checks if check is None else [check], run, result),
    )


def _first_tolerance(checks: Sequence[Check], run: str, result: str) -> Tolerance | None:
    """Return the tolerance of the first check that compares a result and has one for it."""
    for check in checks:
        tolerance: Tolerance | None = getattr(check, "tolerance", None)
        if tolerance is None or check.run != run or result not in check.compared_results:
            continue
        if tolerance.applies_to(result):
            return tolerance
    return None
