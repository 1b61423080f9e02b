"""Check `curve`: a training curve is finite and ends where it should."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field

from grader.kinds.base import Kind
from grader.model.spec import Check, Name

if TYPE_CHECKING:
    from grader.bench.bench import Bench
    from grader.bench.tally import Finding
    from grader.cases.recipe import CaseRecipe
    from grader.model.report import CheckResult


class CurveCheck(Check):
    """A training curve."""

    kind: Literal["curve"]
    of: Name = Field(description="The result, a list of numbers.")
    ends_below: Annotated[float, Field(allow_inf_nan=False)] | None = Field(
        default=None, description="What the last one has to be below."
    )
    falls: bool = Field(default=False, description="Whether the last has to be below the first.")

    def lacks(self) -> str:
        """Something that the last point is held against."""
        return "" if self.ends_below is not None or self.falls else "ends_below or falls"


class Curve(Kind[CurveCheck]):
    """Look at where the curve goes, not at each of its points."""

    keys = CurveCheck
    judges_values = True
    only_course = True

    def carry_out(self, bench: Bench, check: CurveCheck) -> CheckResult:
        """As many points as the reference's, all finite, and the last where it should be."""
        from grader.bench.bench import BankFault
        from grader.bench.results import describe
        from grader.bench.tally import Finding, tally
        from grader.model.numerals import number
        from grader.model.report import Curve as Exhibit
        from grader.model.report import Mismatch

        def judge(case: CaseRecipe) -> Finding | None:
            observed = bench.observed(check.run, case).values.get(check.of)
            truth = bench.truth(check.run, case).values[check.of]
            wanted = _series(truth)
            if not wanted:
                raise BankFault(f"{check.id}: the reference's {check.of} is {describe(truth)}")
            points = _series(observed)
            if points is None or len(points) != len(wanted):
                return Finding(
                    f"{check.of} is {describe(observed)}, "
                    f"expected {len(wanted)} numbers (case {case.name})"
                )
            exhibit = Exhibit(points, wanted)
            bad = [i for i, v in enumerate(points) if not math.isfinite(v)]
            if bad:
                return Finding(
                    f"{check.of} is {number(points[bad[0]])} at step {bad[0]} (case {case.name})",
                    exhibit=exhibit,
                )
            last = points[-1]
            if check.ends_below is not None and not last < check.ends_below:
                below = f"below {number(check.ends_below)}"
                count = len(points)
                return Finding(
                    f"the last value of {check.of} is {number(last)} after {count} steps, "
                    f"expected {below} (case {case.name})",
                    mismatch=Mismatch(
                        check.of, case.name, (count - 1,), number(last), below, None, 1, count
                    ),
                    exhibit=exhibit,
                    figures={"last": last},
                )
            if check.falls and not last < points[0]:
                return Finding(
                    f"{check.of} does not fall: {number(points[0])} at first, "
                    f"{number(last)} after {len(points)} steps (case {case.name})",
                    exhibit=exhibit,
                    figures={"last": last},
                )
            return Finding.passed(last=last)

        return tally(bench, check, judge)

    def observe(self, bench: Bench, check: CurveCheck, case: CaseRecipe) -> object:
        """The whole curve: a wrong idea has its own, though it may end well enough."""
        return bench.observed(check.run, case).values.get(check.of)

    def observed_name(self, check: CurveCheck) -> str:
        """The result."""
        return check.of

    def has_tolerance(self, check: CurveCheck) -> bool:
        """Where the last point is held against a number that can be divided by."""
        return check.ends_below is not None and check.ends_below > 0

    def deviation(self, bench: Bench, check: CurveCheck, case: CaseRecipe) -> float:
        """The last point over its bound."""
        points = _series(bench.observed(check.run, case).values.get(check.of))
        return abs(points[-1]) / check.ends_below if points and check.ends_below else math.inf


def _series(value: Any) -> tuple[float, ...] | None:  # noqa: ANN401 any result
    """A result as a series of numbers, if it is one."""
    import numpy as np

    values = getattr(value, "values", value)
    if isinstance(values, np.ndarray):
        return (
            tuple(float(v) for v in values)
            if values.ndim == 1 and values.dtype.kind in "fiu"
            else None
        )
    if isinstance(values, (list, tuple)) and all(
        isinstance(v, (int, float, np.integer, np.floating)) for v in values
    ):
        return tuple(float(v) for v in values)
    return None
