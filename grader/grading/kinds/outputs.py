"""Check `outputs`: results agree with the reference in type, shape, dtype and values."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import ClassVar, Literal

from grader.grading.kinds.base import CaseFinding, CaseTrial, Kind, api
from grader.model.errors import KeyPath
from grader.model.spec import Name, NameReference, Show, TolerantCheck, yaml_key

MIN_CORRECT_DIGITS = 4  # fewer may be luck, and are not reported


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

    def spec_errors(self) -> Iterator[tuple[KeyPath, str]]:
        yield from super().spec_errors()
        if self.exact and self.tolerance is not None:
            yield ("tolerance",), "expected exact or a tolerance, found both"
        if self.exact and self.zeros == "exact":
            yield ("zeros",), "expected exact or zeros, found both; exact already includes zeros"


class OutputsKind(Kind[OutputsCheck]):
    """Compare every result of the check with the reference's, on every case."""

    check_model = OutputsCheck
    judges_values = True

    def judge(self, trial: CaseTrial[OutputsCheck]) -> CaseFinding | None:
        check = trial.check
        for name in check.results:
            observed = trial.subject_result(name)
            expected = api.expected_result(
                trial.evaluation, check.run, trial.case, name, check=check
            )
            expected = replace(expected, exact=check.exact, exact_zeros=check.zeros == "exact")
            mismatch = api.compare_result(name, observed, expected)
            if mismatch is not None:
                return _finding(trial, mismatch)
        return None


def _finding(trial: CaseTrial[OutputsCheck], mismatch: api.ResultMismatch) -> CaseFinding:
    """Turn a mismatch into a finding, with an exhibit."""
    check = trial.check
    case = trial.case
    sentence = mismatch.sentence
    if mismatch.kind == "values" and mismatch.arrays is not None and case.dtype == "float64":
        sentence += _precision_note(*mismatch.arrays)
    return CaseFinding(
        sentence,
        mismatch=mismatch.to_report(case.name),
        exhibit=api.make_grids(trial.evaluation, case, mismatch, check.show, check.run),
        wrong_result=mismatch.result if mismatch.kind == "values" else "",
    )


def _precision_note(actual: api.Array, expected: api.Array, wrong: api.Array) -> str:
    """Return "; it is right to about 7 digits" (of the worst entry); "" if fewer than 4."""
    np = api.np
    actual_entries = actual[wrong].astype(np.float64)
    expected_entries = expected[wrong].astype(np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        errors = np.abs(actual_entries - expected_entries) / np.abs(expected_entries)
    worst = float(np.max(errors))
    if not 0 < worst < 10.0**-MIN_CORRECT_DIGITS:
        return ""
    return f"; it is right to about {math.floor(-math.log10(worst))} digits"
