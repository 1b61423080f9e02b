"""Check `outputs`: results agree with the reference in type, shape, dtype and values."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import ClassVar, Literal

from grader.kinds.base import Kind, Trial, api
from grader.model.spec import Mention, Name, Show, TolerantCheck, key

FEWEST_DIGITS = 4  # right, for it to be worth saying how many are


class OutputsCheck(TolerantCheck):
    """Results agree with the reference."""

    only_runs: ClassVar[bool] = True
    kind: Literal["outputs"]
    of: Name | list[Name] = key("The results that it looks at; those that no later step takes.", "")
    exact: bool = key("Whether nothing but the very same values will do.", False)
    zeros: Literal["close", "exact"] = key(
        "With exact, entries that are 0 in the reference have to be exactly 0.", "close"
    )
    show: Show = key("What to print next to a mismatch.", Show())

    def mentions(self) -> Iterator[Mention]:
        yield from super().mentions()
        for number, name in enumerate(self.show.beside):
            yield Mention(("show", "beside", number), name, "input")
        for number, size in enumerate(self.show.window or []):
            if isinstance(size, str):
                yield Mention(("show", "window", number), size, "input")

    def faults(self) -> Iterator[tuple[tuple[str | int, ...], str]]:
        yield from super().faults()
        if self.exact and self.tolerance is not None:
            yield ("tolerance",), "expected exact or a tolerance, found both"
        if self.exact and self.zeros == "exact":
            yield ("zeros",), "expected exact or zeros, found both; exact already includes zeros"


class Outputs(Kind[OutputsCheck]):
    """Compare every result of the check on every case."""

    keys = OutputsCheck
    judges_values = True

    def judge(self, trial: Trial[OutputsCheck]) -> api.Finding | None:
        check, zeros = trial.check, trial.check.zeros == "exact"
        for name in check.results:
            fault = trial.fault(name, trial.observed, exact=check.exact, zeros=zeros, check=check)
            if fault is not None:
                return _finding(trial, fault)
        return None


def _finding(trial: Trial[OutputsCheck], fault: api.Fault) -> api.Finding:
    """A fault with what to show of it."""
    evaluation, check, case = trial.evaluation, trial.check, trial.case
    sentence = fault.sentence
    if fault.kind == "values" and fault.arrays is not None and case.dtype == "float64":
        sentence += _precision(fault)
    return api.Finding(
        sentence,
        mismatch=fault.mismatch(case.name),
        exhibit=api.grids(evaluation, case, fault, check.show, check.run),
        subject=fault.result if fault.kind == "values" else "",
    )


def _precision(fault: api.Fault) -> str:
    """To how many digits the wrong entries are right, where these are more than luck."""
    np = api.np
    assert fault.arrays is not None
    observed, wanted, wrong = fault.arrays
    got, want = (a[wrong].astype(np.float64) for a in (observed, wanted))
    with np.errstate(divide="ignore", invalid="ignore"):
        worst = float(np.max(np.abs(got - want) / np.abs(want)))
    if not 0 < worst < 10.0**-FEWEST_DIGITS:
        return ""
    return f"; it is right to about {math.floor(-math.log10(worst))} digits"
