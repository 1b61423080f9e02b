"""Check `curve`: a training curve is finite and ends where it should."""

from __future__ import annotations

from typing import Any

import numpy as np

from grader.bench.bench import BankFault, Bench
from grader.bench.results import describe
from grader.bench.tally import Finding, tally
from grader.cases.recipe import CaseRecipe
from grader.model.numerals import number
from grader.model.report import CheckResult, Curve, Mismatch
from grader.model.spec import CurveCheck


def check_curve(bench: Bench, check: CurveCheck) -> CheckResult:
    """Judge the curve on every case."""
    figures: dict[str, float] = {}

    def judge(case: CaseRecipe) -> Finding | None:
        observed = bench.observed(check.run, case).values.get(check.of)
        truth = bench.truth(check.run, case).values[check.of]
        wanted = series(truth)
        if not wanted:
            raise BankFault(f"{check.id}: the reference's {check.of} is {describe(truth)}")
        points = series(observed)
        if points is None or len(points) != len(wanted):
            return Finding(
                f"{check.of} is {describe(observed)}, "
                f"expected {len(wanted)} numbers (case {case.name})"
            )
        exhibit = Curve(points, wanted)
        bad = [i for i, v in enumerate(points) if not np.isfinite(v)]
        if bad:
            return Finding(
                f"{check.of} is {number(points[bad[0]])} at step {bad[0]} (case {case.name})",
                exhibit=exhibit,
            )
        last = points[-1]
        figures.update(last=last)
        if check.ends_below is not None and not last < check.ends_below:
            where = Mismatch(
                check.of,
                case.name,
                (len(points) - 1,),
                number(last),
                f"below {number(check.ends_below)}",
                None,
                1,
                len(points),
            )
            return Finding(
                f"{check.of} ends at {number(last)} after {len(points)} steps, "
                f"expected below {number(check.ends_below)} (case {case.name})",
                mismatch=where,
                exhibit=exhibit,
            )
        if check.falls and not last < points[0]:
            return Finding(
                f"{check.of} does not fall: {number(points[0])} at first, "
                f"{number(last)} after {len(points)} steps (case {case.name})",
                exhibit=exhibit,
            )
        return None

    return tally(bench, check, judge, figures=figures)


def series(value: Any) -> tuple[float, ...] | None:  # noqa: ANN401 any result
    """A result as a series of numbers, if it is one."""
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
