"""Check `curve`: a training curve is finite and ends where it should."""

from __future__ import annotations

import math
from typing import Literal

from grader.grading.kinds.base import CaseFinding, CaseTrial, Kind, api
from grader.model.number_format import format_number
from grader.model.report import Curve as Exhibit
from grader.model.report import Mismatch
from grader.model.spec import Name, TolerantCheck, yaml_key


class CurveCheck(TolerantCheck):
    """A training curve."""

    kind: Literal["curve"]
    of: Name = yaml_key("The result, a list of numbers.")
    ends_below: float | None = yaml_key(
        "What the last one has to be below.", None, allow_inf_nan=False
    )
    ends_above: float | None = yaml_key(
        "What the last one has to be above.", None, allow_inf_nan=False
    )
    falls: bool = yaml_key("Whether the last has to be below the first.", False)

    def missing_configuration(self) -> str:
        requirements = (self.ends_below, self.ends_above, self.tolerance)
        if self.falls or any(requirement is not None for requirement in requirements):
            return ""
        return "ends_below, ends_above, falls or tolerance"


class CurveKind(Kind[CurveCheck]):
    """Require that the curve is finite and ends where the check says.

    With a tolerance, every point must also be near the reference's.
    """

    check_model = CurveCheck
    judges_values = True
    compares_final_value_only = True

    def judge(self, trial: CaseTrial[CurveCheck]) -> CaseFinding:
        check = trial.check
        actual = trial.subject_result(check.of)
        reference = trial.reference_outcome.values[check.of]
        points = _to_series(actual)
        expected = _to_series(reference)
        if not expected:
            raise api.BankProgramError(
                f"{check.id}: the reference's {check.of} is {api.describe_value(reference)}"
            )
        if points is None or len(points) != len(expected):
            return trial.failing_finding(
                f"{check.of} is {api.describe_value(actual)}, expected {len(expected)} numbers"
            )
        exhibit = Exhibit(points, expected)
        for step, value in enumerate(points):
            if not math.isfinite(value):
                return trial.failing_finding(
                    f"{check.of} is {format_number(value)} at step {step}", exhibit=exhibit
                )
        last = points[-1]
        problem = _find_problem(trial, points, expected)
        if problem is None:
            return CaseFinding.for_pass(last=last)
        sentence, mismatch = problem
        return trial.failing_finding(
            sentence, mismatch=mismatch, exhibit=exhibit, figures={"last": last}
        )

    def observe(self, trial: CaseTrial[CurveCheck]) -> api.Value:
        return trial.subject_result(trial.check.of)


_Series = tuple[float, ...]


def _find_problem(
    trial: CaseTrial[CurveCheck], points: _Series, expected: _Series
) -> tuple[str, Mismatch | None] | None:
    """Return a sentence on the first requirement that the curve fails, and the mismatch.

    A curve that does not fall has no mismatch.  Returns None if all requirements are met.
    """
    np = api.np
    check = trial.check
    case = trial.case.name
    count = len(points)
    first = points[0]
    last = points[-1]
    bound = ""
    if check.ends_below is not None and not last < check.ends_below:
        bound = f"below {format_number(check.ends_below)}"
    elif check.ends_above is not None and not last > check.ends_above:
        bound = f"above {format_number(check.ends_above)}"
    if bound:
        text = format_number(last)
        mismatch = Mismatch(
            result=check.of,
            case=case,
            index=(count - 1,),
            observed=text,
            expected=bound,
            allowed=None,
            wrong=1,
            total=count,
        )
        return f"the last of {count} values of {check.of} is {text}, expected {bound}", mismatch
    if check.falls and not last < first:
        return (
            f"{check.of} does not fall: {format_number(first)} at first, "
            f"{format_number(last)} as the last of {count} values"
        ), None
    if check.tolerance is None:
        return None
    actual_points = np.asarray(points)
    expected_points = np.asarray(expected)
    allowed = api.allowed_by_check(check.tolerance, expected_points)
    wrong = ~(abs(actual_points - expected_points) <= allowed)
    stray = api.mismatch_of_entries(check.of, actual_points, expected_points, wrong, allowed)
    if stray is None:
        return None
    return (
        f"{check.of} strays from the expected one in {stray.wrong} of {count} values",
        stray.to_report(case),
    )


def _to_series(value: api.Value) -> _Series | None:
    """Convert a list, tuple or 1-d array of numbers; return None for other values."""
    values: api.Value = getattr(value, "values", value)
    if isinstance(values, api.np.ndarray):
        is_series = values.ndim == 1 and values.dtype.kind in "fiu"
    else:
        numbers = (int, float, api.np.integer, api.np.floating)
        is_series = isinstance(values, (list, tuple)) and all(
            isinstance(number, numbers) for number in values
        )
    return tuple(map(float, values)) if is_series else None
