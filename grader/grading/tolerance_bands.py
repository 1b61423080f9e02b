"""What is expected of a result, and the allowed band: how far each entry may be from it.

Three things are known of a result: its largest magnitude S; by entry, what moving every input by
one unit in its last place does to the reference (the effect); and the size of the inputs that it is
computed from.  See docs/adr/0003-tolerance.md for what was measured.

- The band is 1e-10 of S in float64 or, in any dtype, 16 times (the largest effect + 4 units of S).
- In float64 no entry has more of it than 1e-6 of its own size, which is its magnitude or, where
  numbers cancel in it, the effect in units; but at least 16 times its own effect and 1024 units of
  S, as right algorithms err by the norm (a transform, a blocked product).
- No band is below 1024 units of what entered, in float32 16; where a whole result is below 1e-11
  of that, it only has to be below 1e-10 of it.  Such a result is 0, or 1e-74, because numbers
  cancel that need not cancel to the last bit when they are computed otherwise.

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
RELATIVE_BF16 = 3e-2
SAFETY = 16.0  # right code measured up to 3.6 units of the rounding effect over ten workloads
ULPS = 4.0
OWN_SIZE_SHARE = 1e-6  # of an entry's own size, which a band that is due to others may be
NORM_ULPS = 1024.0  # units of the largest entry by which a small one may be off
UNIT_64 = 2.0**-52
VANISHING_SHARE = 1e-11  # of what entered: a result that is smaller is what cancellation left over

NudgedValues = Callable[[], list[Array]]


def ulp_of_one(dtype: str) -> float:
    """One unit in the last place of 1 in a dtype."""
    return float(np.finfo(np.float32).eps) if dtype == "float32" else UNIT_64


def minimum_tolerance(dtype: str, scale: float, entered: float) -> float:
    """What any entry may be off by, because of the numbers that it is computed from.

    `scale` is of the result, `entered` the size of what it is computed from.
    """
    one = ulp_of_one(dtype)
    if scale > VANISHING_SHARE * entered:
        # In float32 results may be small for a reason, which more units would hide.
        return (SAFETY if dtype == "float32" else NORM_ULPS) * one * entered
    # Nothing but being small can be asked of it.
    return max(RELATIVE_64, SAFETY * ULPS * one) * entered


def tolerance_band(
    dtype: str,
    want: Array,
    moved: NudgedValues,
    deviation: Array | None = None,
    entered: Callable[[], float] = lambda: 0.0,
) -> Array:
    """The width of the band around each of the expected float64 values of a case of that dtype.

    `moved` gives them after nudging the inputs, which is costly, and left out where the `deviation`
    of a result is small enough; `entered` the size of the inputs that they are computed from.
    """
    scale, one = largest_magnitude(want), ulp_of_one(dtype)
    size = np.where(np.isfinite(want), np.abs(want), 0.0)
    common = SAFETY * ULPS * one * scale
    if dtype != "float32":
        common = max(common, RELATIVE_64 * scale)
    allowed = _shared(dtype, common, size, scale)
    if deviation is not None and (deviation <= allowed).all():
        return allowed
    floor = minimum_tolerance(dtype, scale, entered())
    allowed = np.maximum(allowed, floor)
    if deviation is not None and (deviation <= allowed).all():
        return allowed
    effect = np.zeros(want.shape)
    for other in moved():
        off = np.abs(other - want)
        effect = np.maximum(effect, np.where(np.isfinite(off), off, 0.0))
    most = largest_magnitude(effect)
    common = max(common, SAFETY * (most + ULPS * one * scale))
    with np.errstate(over="ignore"):
        own = np.maximum(size, effect / one)
    band = np.maximum(_shared(dtype, common, own, scale), SAFETY * effect)
    return np.asarray(np.maximum(band, floor))


def _shared(dtype: str, common: float, own: Array, scale: float) -> Array:
    """The band of the whole result, less where an entry is far smaller than the largest."""
    if dtype == "float32":
        return np.full(own.shape, common)
    return np.asarray(
        np.maximum(np.minimum(common, OWN_SIZE_SHARE * own), NORM_ULPS * UNIT_64 * scale)
    )


def allowed_by_check(tolerance: Tolerance, want: Array) -> Array:
    """What a tolerance of the check allows around each of the expected values."""
    size = np.where(np.isfinite(want), np.abs(want), 0.0)
    return np.asarray(np.maximum(tolerance.absolute or 0.0, (tolerance.relative or 0.0) * size))


def bfloat16_norm(want: Array, entered: Callable[[], float]) -> float:
    """How far a bfloat16 result may be from the expected one in the Euclidean norm."""
    size = float(np.linalg.norm(want))
    if size <= VANISHING_SHARE * entered():
        size = entered() * float(np.sqrt(want.size))
    return RELATIVE_BF16 * size


@dataclass(frozen=True, slots=True)
class ExpectedResult:
    """What a result should be."""

    native: Any  # in the case's dtypes: type, dtype and shape
    precise: Any  # in float64: values
    nudged: Callable[[], list[Any]]  # the precise value after nudging the inputs; costly
    dtype: str = "float64"  # of the case: what a scalar, which has no dtype of its own, is held to
    input_scale: Callable[[], float] = lambda: (
        0.0
    )  # the size of the inputs that it is computed from
    tolerance: Tolerance | None = None  # that the check allows besides

    def item_at(self, key: str | int) -> ExpectedResult:
        """What an item of a container should be."""
        return replace(
            self,
            native=self.native[key],
            precise=self.precise[key],
            nudged=lambda: [m[key] for m in self.nudged()],
        )

    def nudged_floats(self) -> list[Array]:
        """The real numbers in the moved values, those that still have the same shape."""
        shape = as_real_array(to_array(self.precise)).shape
        moved = map(to_floats, self.nudged())
        return [m for m in moved if m is not None and m.shape == shape]


def input_scale(
    evaluation: Evaluation, run: str, case: CaseRecipe, result: str, *, draw_index: int = 0
) -> float:
    """The size of what a result is computed from, in the result's own unit as far as it is known.

    A gradient is linear in what comes in (an input called grad_...): its size counts as it is.
    Other inputs count where they are small, and else as 1: what is computed from logits of 1e30
    may well be a probability.
    """
    names = run_inputs(steps_producing(evaluation.steps(run), result))
    drawn = evaluation.drawn_inputs(case, draw_index)
    sizes = {
        name: largest_magnitude(drawn[name].astype(np.float64))
        for name in names
        if isinstance(drawn[name], np.ndarray) and drawn[name].dtype.kind == "f"
    }
    coming = [n for name, n in sizes.items() if is_incoming_gradient(name) and n]
    other = [n for name, n in sizes.items() if not is_incoming_gradient(name) and n]
    if not sizes:
        other = [abs(drawn[n]) for n in names if isinstance(drawn[n], float) and drawn[n]]
    return min(coming, default=1.0) * min([1.0, *other]) if coming or other else 0.0


def expected_result(
    evaluation: Evaluation,
    run: str,
    case: CaseRecipe,
    result: str,
    *,
    draw_index: int = 0,
    check: Check | None = None,
) -> ExpectedResult:
    """What the reference says a result is, with the means to find how far rounding may move it.

    A tolerance is that of the check; where none asks, what any check allows that result.
    """

    def right(mode: str) -> Value:
        return evaluation.reference_outcome(run, case, draw_index=draw_index, mode=mode).values[
            result
        ]

    precise = right(NATIVE if case.dtype == "float64" else PRECISE)
    return ExpectedResult(
        right(NATIVE),
        precise,
        lambda: [right(mode) for mode in NUDGES],
        case.dtype,
        lambda: input_scale(evaluation, run, case, result, draw_index=draw_index),
        _tolerance(evaluation.checks if check is None else [check], run, result),
    )


def _tolerance(checks: Sequence[Check], run: str, result: str) -> Tolerance | None:
    """The first tolerance for a result of a run."""
    for check in checks:
        found: Tolerance | None = getattr(check, "tolerance", None)
        if (
            found
            and check.run == run
            and result in check.compared_results
            and found.applies_to(result)
        ):
            return found
    return None
