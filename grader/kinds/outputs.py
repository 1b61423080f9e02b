"""Check `outputs`: results agree with the reference in type, shape, dtype and values."""

from __future__ import annotations

from grader.bench.bench import NATIVE, NUDGES, PRECISE, Bench
from grader.bench.compare import Expected, Fault, compare
from grader.bench.exhibit import grids, mismatch
from grader.bench.tally import Finding, tally
from grader.cases.recipe import CaseRecipe
from grader.model.report import CheckResult
from grader.model.spec import OutputsCheck, Show


def expected(
    bench: Bench, run: str, case: CaseRecipe, result: str, *, draw_index: int = 0
) -> Expected:
    """What the reference says a result is, with the means to find how far rounding may move it."""
    native = bench.truth(run, case, draw_index=draw_index).values[result]
    mode = NATIVE if case.dtype == "float64" else PRECISE
    precise = bench.truth(run, case, draw_index=draw_index, mode=mode).values[result]
    return Expected(
        native,
        precise,
        lambda: [
            bench.truth(run, case, draw_index=draw_index, mode=m).values[result] for m in NUDGES
        ],
        case.dtype,
    )


def check_outputs(bench: Bench, check: OutputsCheck) -> CheckResult:
    """Compare every result of the check on every case."""

    def judge(case: CaseRecipe) -> Finding | None:
        values = bench.observed(check.run, case).values
        for result in check.results:
            fault = compare(
                result,
                values.get(result),
                expected(bench, check.run, case, result),
                exact=check.exact,
                zeros=check.zeros == "exact",
            )
            if fault is not None:
                return finding(bench, case, fault, check.show)
        return None

    return tally(bench, check, judge)


def finding(bench: Bench, case: CaseRecipe, fault: Fault, show: Show) -> Finding:
    """A fault with what to show of it."""
    sentence = fault.sentence
    if fault.kind == "values" and fault.arrays is not None and case.dtype == "float64":
        sentence += _precision(fault)
    return Finding(
        sentence,
        mismatch=mismatch(fault, case),
        exhibit=grids(bench, case, fault, show),
        subject=fault.result if fault.kind == "values" else "",
    )


def _precision(fault: Fault) -> str:
    """A remark when the values are right to the digits of a smaller dtype only."""
    import numpy as np

    assert fault.arrays is not None
    observed, wanted, _ = (a.astype(np.float64) for a in fault.arrays)
    finite = np.isfinite(observed) & np.isfinite(wanted)
    scale = float(np.abs(wanted[finite]).max(initial=0.0))
    worst = float(np.abs(observed - wanted)[finite].max(initial=0.0))
    # float32 rounds at 6e-8 of a number; sums of a few thousand reach 1e-6.
    return (
        "; it is right to about 7 digits: is part of it computed in float32?"
        if 1e-10 * scale < worst < 1e-6 * scale
        else ""
    )
