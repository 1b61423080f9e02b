"""Check `curve`: a training curve is finite and ends where it should."""

from __future__ import annotations

import math
from typing import Annotated, Literal

from pydantic import Field

from grader.kinds.base import Kind, api
from grader.model.keys import Name, TolerantCheck
from grader.model.numerals import number
from grader.model.report import Curve as Exhibit
from grader.model.report import Mismatch


class CurveCheck(TolerantCheck):
    """A training curve."""

    kind: Literal["curve"]
    of: Name = Field(description="The result, a list of numbers.")
    ends_below: Annotated[float, Field(allow_inf_nan=False)] | None = Field(
        default=None, description="What the last one has to be below."
    )
    ends_above: Annotated[float, Field(allow_inf_nan=False)] | None = Field(
        default=None, description="What the last one has to be above."
    )
    falls: bool = Field(default=False, description="Whether the last has to be below the first.")

    def lacks(self) -> str:
        bounds = (self.ends_below, self.ends_above, self.tolerance)
        held = self.falls or any(bound is not None for bound in bounds)
        return "" if held else "ends_below, ends_above, falls or tolerance"


class Curve(Kind[CurveCheck]):
    """Look at where the curve goes; at each of its points only where there is a tolerance."""

    keys = CurveCheck
    judges_values = True
    only_course = True

    def judge(self, evaluation: api.Evaluation, check: CurveCheck, case: api.Case) -> api.Finding:
        observed = self.observe(evaluation, check, case)
        truth = evaluation.truth(check.run, case).values[check.of]
        points, wanted = _series(observed), _series(truth)
        if not wanted:
            raise api.BankFault(f"{check.id}: the reference's {check.of} is {api.describe(truth)}")
        if points is None or len(points) != len(wanted):
            return api.Finding(
                f"{check.of} is {api.describe(observed)}, "
                f"expected {len(wanted)} numbers (case {case.name})"
            )
        exhibit = Exhibit(points, wanted)
        bad = [i for i, v in enumerate(points) if not math.isfinite(v)]
        if bad:
            return api.Finding(
                f"{check.of} is {number(points[bad[0]])} at step {bad[0]} (case {case.name})",
                exhibit=exhibit,
            )
        count, last = len(points), points[-1]
        figures = {"last": last}
        bound = ""
        if check.ends_below is not None and not last < check.ends_below:
            bound = f"below {number(check.ends_below)}"
        elif check.ends_above is not None and not last > check.ends_above:
            bound = f"above {number(check.ends_above)}"
        if bound:
            return api.Finding(
                f"the last of {count} values of {check.of} is {number(last)}, "
                f"expected {bound} (case {case.name})",
                mismatch=Mismatch(
                    check.of, case.name, (count - 1,), number(last), bound, None, 1, count
                ),
                exhibit=exhibit,
                figures=figures,
            )
        if check.falls and not last < points[0]:
            return api.Finding(
                f"{check.of} does not fall: {number(points[0])} at first, "
                f"{number(last)} as the last of {count} values (case {case.name})",
                exhibit=exhibit,
                figures=figures,
            )
        if check.tolerance is not None and (fault := _astray(check, points, wanted)) is not None:
            return api.Finding(
                f"{check.of} strays from the expected one in {fault.wrong} of {count} values "
                f"(case {case.name})",
                mismatch=fault.mismatch(case.name),
                exhibit=exhibit,
                figures=figures,
            )
        return api.Finding.passed(last=last)

    def observe(self, evaluation: api.Evaluation, check: CurveCheck, case: api.Case) -> api.Value:
        return evaluation.observed(check.run, case).values.get(check.of)


def _astray(
    check: CurveCheck, points: tuple[float, ...], wanted: tuple[float, ...]
) -> api.Fault | None:
    """Where a curve is further from the reference's than the tolerance says."""
    assert check.tolerance is not None
    got, want = (api.np.asarray(values) for values in (points, wanted))
    allowed = api.tolerated(check.tolerance, want)
    fault = api.report(check.of, got, want, ~(abs(got - want) <= allowed), allowed)
    return api.explained(fault, check.tolerance)


def _series(value: api.Value) -> tuple[float, ...] | None:
    """A result as a series of numbers, if it is one."""
    values: api.Value = getattr(value, "values", value)
    if isinstance(values, api.np.ndarray):
        known = values.ndim == 1 and values.dtype.kind in "fiu"
    else:
        numbers = (int, float, api.np.integer, api.np.floating)
        known = isinstance(values, (list, tuple)) and all(isinstance(v, numbers) for v in values)
    return tuple(map(float, values)) if known else None
