"""What the reference says a result is, and how far rounding may move it.

The values of float32 and bfloat16 cases are computed in float64 on the rounded inputs, so an answer
more accurate than the reference's own dtype is never wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from grader.cases.dataflow import free_names, producing
from grader.cases.draw import Array
from grader.cases.recipe import CaseRecipe
from grader.evaluation.encoding import NATIVE, NUDGES, PRECISE
from grader.evaluation.evaluation import Evaluation
from grader.evaluation.results import Value, array_of, floats, largest, real_parts
from grader.model.spec import Check, Tolerance


@dataclass(frozen=True, slots=True)
class Expected:
    """What a result should be."""

    native: Any  # in the case's dtypes: type, dtype and shape
    precise: Any  # in float64: values
    moved: Callable[[], list[Any]]  # the precise value after nudging the inputs; costly
    dtype: str = "float64"  # of the case: what a scalar, which has no dtype of its own, is held to
    entered: Callable[[], float] = lambda: 0.0  # the size of the inputs that it is computed from
    tolerance: Tolerance | None = None  # that the check allows besides

    def part(self, key: str | int) -> Expected:
        """What an item of a container should be."""
        return replace(
            self,
            native=self.native[key],
            precise=self.precise[key],
            moved=lambda: [m[key] for m in self.moved()],
        )

    def moved_floats(self) -> list[Array]:
        """The real numbers in the moved values, those that still have the same shape."""
        shape = real_parts(array_of(self.precise)).shape
        moved = map(floats, self.moved())
        return [m for m in moved if m is not None and m.shape == shape]


def entered(
    evaluation: Evaluation, run: str, case: CaseRecipe, result: str, *, draw_index: int = 0
) -> float:
    """The size of what a result is computed from, in the result's own unit as far as it is known.

    A gradient is linear in what comes in (an input called grad_...): its size counts as it is.
    Other inputs count where they are small, and else as 1: what is computed from logits of 1e30
    may well be a probability.
    """
    names = free_names(producing(evaluation.steps(run), result))
    drawn = evaluation.drawn(case, draw_index)
    sizes = {
        name: largest(drawn[name].astype(np.float64))
        for name in names
        if isinstance(drawn[name], np.ndarray) and drawn[name].dtype.kind == "f"
    }
    coming = [size for name, size in sizes.items() if name.startswith("grad") and size]
    other = [size for name, size in sizes.items() if not name.startswith("grad") and size]
    if not sizes:
        other = [abs(drawn[n]) for n in names if isinstance(drawn[n], float) and drawn[n]]
    return min(coming, default=1.0) * min([1.0, *other]) if coming or other else 0.0


def expected(
    evaluation: Evaluation,
    run: str,
    case: CaseRecipe,
    result: str,
    *,
    draw_index: int = 0,
    check: Check | None = None,
) -> Expected:
    """What the reference says a result is, with the means to find how far rounding may move it.

    A tolerance is that of the check; where none asks, what any check allows that result.
    """

    def right(mode: str) -> Value:
        return evaluation.truth(run, case, draw_index=draw_index, mode=mode).values[result]

    precise = right(NATIVE if case.dtype == "float64" else PRECISE)
    return Expected(
        right(NATIVE),
        precise,
        lambda: [right(mode) for mode in NUDGES],
        case.dtype,
        lambda: entered(evaluation, run, case, result, draw_index=draw_index),
        _tolerance(evaluation.checks if check is None else [check], run, result),
    )


def _tolerance(checks: Sequence[Check], run: str, result: str) -> Tolerance | None:
    """The first tolerance for a result of a run."""
    for check in checks:
        found: Tolerance | None = getattr(check, "tolerance", None)
        if found and check.run == run and result in check.compared and found.covers(result):
            return found
    return None
