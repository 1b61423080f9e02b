"""Check `outputs`: results agree with the reference in type, shape, dtype and values."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import ClassVar, Literal

from grader.grading.kinds.base import CaseTrial, Kind, api
from grader.model.spec import Name, NameReference, Show, TolerantCheck, yaml_key

MIN_DIGITS = 4  # right, for it to be worth saying how many are


class OutputsCheck(TolerantCheck):
    """Results agree with the reference."""

    only_runs: ClassVar[bool] = True
    kind: Literal["outputs"]
    of: Name | list[Name] = yaml_key(
        "The results that it looks at; those that no later step takes.", ""
    )
    exact: bool = yaml_key("Whether nothing but the very same values will do.", False)
    zeros: Literal["close", "exact"] = yaml_key(
        "With exact, entries that are 0 in the reference have to be exactly 0.", "close"
    )
    show: Show = yaml_key("What to print next to a mismatch.", Show())

    def referenced_names(self) -> Iterator[NameReference]:
        yield from super().referenced_names()
        for number, name in enumerate(self.show.beside):
            yield NameReference(("show", "beside", number), name, "input")
        for number, size in enumerate(self.show.window or []):
            if isinstance(size, str):
                yield NameReference(("show", "window", number), size, "input")

    def spec_errors(self) -> Iterator[tuple[tuple[str | int, ...], str]]:
        yield from super().spec_errors()
        if self.exact and self.tolerance is not None:
            yield ("tolerance",), "expected exact or a tolerance, found both"
        if self.exact and self.zeros == "exact":
            yield ("zeros",), "expected exact or zeros, found both; exact already includes zeros"


class OutputsKind(Kind[OutputsCheck]):
    """Compare every result of the check on every case."""

    keys = OutputsCheck
    judges_values = True

    def judge(self, trial: CaseTrial[OutputsCheck]) -> api.CaseFinding | None:
        check, zeros = trial.check, trial.check.zeros == "exact"
        for name in check.results:
            fault = trial.find_mismatch(
                name, trial.submission_outcome, exact=check.exact, zeros=zeros, check=check
            )
            if fault is not None:
                return _finding(trial, fault)
        return None


def _finding(trial: CaseTrial[OutputsCheck], fault: api.ResultMismatch) -> api.CaseFinding:
    """A fault with what to show of it."""
    evaluation, check, case = trial.evaluation, trial.check, trial.case
    sentence = fault.sentence
    if fault.kind == "values" and fault.arrays is not None and case.dtype == "float64":
        sentence += _precision(fault)
    return api.CaseFinding(
        sentence,
        mismatch=fault.to_report(case.name),
        exhibit=api.make_grids(evaluation, case, fault, check.show, check.run),
        subject=fault.result if fault.kind == "values" else "",
    )


def _precision(fault: api.ResultMismatch) -> str:
    """To how many digits the wrong entries are right, where these are more than luck."""
    np = api.np
    assert fault.arrays is not None
    observed, wanted, wrong = fault.arrays
    got, want = (a[wrong].astype(np.float64) for a in (observed, wanted))
    with np.errstate(divide="ignore", invalid="ignore"):
        worst = float(np.max(np.abs(got - want) / np.abs(want)))
    if not 0 < worst < 10.0**-MIN_DIGITS:
        return ""
    return f"; it is right to about {math.floor(-math.log10(worst))} digits"
