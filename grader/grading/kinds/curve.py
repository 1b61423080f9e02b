"""Check `curve`: a training curve is finite and ends where it should."""

from __future__ import annotations

import math
from typing import Literal

from grader.grading.kinds.base import CaseTrial, Kind, api
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
        bounds = (self.ends_below, self.ends_above, self.tolerance)
        held = self.falls or any(bound is not None for bound in bounds)
        return "" if held else "ends_below, ends_above, falls or tolerance"


class CurveKind(Kind[CurveCheck]):
    """Look at where the curve goes; at each of its points only where there is a tolerance."""

    keys = CurveCheck
    judges_values = True
    compares_final_value_only = True

    def judge(self, trial: CaseTrial[CurveCheck]) -> api.CaseFinding:
        check, case = trial.check, trial.case
        observed, truth = (
            trial.submission_result(check.of),
            trial.reference_outcome.values[check.of],
        )
        points, wanted = _series(observed), _series(truth)
        if not wanted:
            raise api.BankProgramError(
                f"{check.id}: the reference's {check.of} is {api.describe_value(truth)}"
            )
        if points is None or len(points) != len(wanted):
            return trial.failing_finding(
                f"{check.of} is {api.describe_value(observed)}, expected {len(wanted)} numbers"
            )
        count, last = len(points), points[-1]

        def wrong(
            sentence: str, mismatch: Mismatch | None = None, **figures: float
        ) -> api.CaseFinding:
            exhibit = Exhibit(points, wanted)
            return trial.failing_finding(
                sentence, mismatch=mismatch, exhibit=exhibit, figures=figures
            )

        for step, value in enumerate(points):
            if not math.isfinite(value):
                return wrong(f"{check.of} is {format_number(value)} at step {step}")
        bound = ""
        if check.ends_below is not None and not last < check.ends_below:
            bound = f"below {format_number(check.ends_below)}"
        elif check.ends_above is not None and not last > check.ends_above:
            bound = f"above {format_number(check.ends_above)}"
        if bound:
            at, text = (count - 1,), format_number(last)
            sentence = f"the last of {count} values of {check.of} is {text}, expected {bound}"
            mismatch = Mismatch(check.of, case.name, at, text, bound, None, 1, count)
            return wrong(sentence, mismatch, last=last)
        if check.falls and not last < points[0]:
            fall = f"{format_number(points[0])} at first, {format_number(last)} as the last of {count} values"
            return wrong(f"{check.of} does not fall: {fall}", last=last)
        if check.tolerance is not None:
            got, want = (api.np.asarray(values) for values in (points, wanted))
            allowed = api.allowed_by_check(check.tolerance, want)
            wrong_at = ~(abs(got - want) <= allowed)
            if fault := api.mismatch_of_entries(check.of, got, want, wrong_at, allowed):
                strays = f"strays from the expected one in {fault.wrong} of {count} values"
                return wrong(f"{check.of} {strays}", fault.to_report(case.name), last=last)
        return api.CaseFinding.for_pass(last=last)

    def observe(self, trial: CaseTrial[CurveCheck]) -> api.Value:
        return trial.submission_result(trial.check.of)


def _series(value: api.Value) -> tuple[float, ...] | None:
    """A result as a series of numbers, if it is one."""
    values: api.Value = getattr(value, "values", value)
    if isinstance(values, api.np.ndarray):
        known = values.ndim == 1 and values.dtype.kind in "fiu"
    else:
        numbers = (int, float, api.np.integer, api.np.floating)
        known = isinstance(values, (list, tuple)) and all(isinstance(v, numbers) for v in values)
    return tuple(map(float, values)) if known else None
