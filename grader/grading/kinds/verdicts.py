"""Check `verdicts`: a test accepts what is right, and rejects what is wrong.

Each case is one implementation that the test is tried on.  What the test says of it is one of four:
accepted, rejected, no verdict, or that it depends on the draw.  Shown is how many of each, and what
is special about those that it got wrong, in the words of the case; never which they are.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Literal

from pydantic import model_validator

from grader.grading.kinds.base import CaseTrial, Check, CheckResult, Kind, api
from grader.model.spec import Name, Slug, yaml_key

ACCEPTED, REJECTED, NO_VERDICT = "accepted", "rejected", "no verdict"


class VerdictsCheck(Check):
    """What a test says of implementations, right ones and wrong ones."""

    only_runs: ClassVar[bool] = True
    kind: Literal["verdicts"]
    of: Name = yaml_key(
        "The result, a text: accepted, rejected, no verdict, or else that it depends "
        "on the draw. What was odd about its calls may follow in parentheses where that is wrong: "
        "it tells ideas apart whose verdicts are the same."
    )
    accept: list[Slug] = yaml_key("Cases in which what is tested is right.", [])
    reject: list[Slug] = yaml_key("Cases in which it is wrong.", [])
    called: str = yaml_key(
        "What the cases are, in the plural: gradients.",
        "implementations",
        min_length=1,
        max_length=40,
    )
    cases: str | list[str] = yaml_key("Those of accept and reject.", [])

    @model_validator(mode="before")
    @classmethod
    def _all_cases(cls, keys: Any) -> Any:  # noqa: ANN401 whatever the spec has there
        """Name the cases, so that whatever asks for those of a check finds them."""
        if not isinstance(keys, dict):
            return keys
        listed = [keys.get(key) or [] for key in ("accept", "reject")]
        if "cases" not in keys and all(isinstance(names, list) for names in listed):
            return {**keys, "cases": [*listed[0], *listed[1]]}
        return keys

    def spec_errors(self) -> Iterator[tuple[tuple[str | int, ...], str]]:
        if self.cases != [*self.accept, *self.reject]:
            yield ("cases",), "expected accept and reject in place of cases"
        for name in sorted(set(self.accept) & set(self.reject)):
            yield ("reject",), f"expected each case once, found {name} in accept as well"


class VerdictsKind(Kind[VerdictsCheck]):
    """Count what was accepted and what was rejected."""

    keys = VerdictsCheck
    judges_values = True

    def run_check(self, evaluation: api.Evaluation, check: VerdictsCheck) -> CheckResult:
        """Try the test on everything in a secret order; of a submission no case is named.

        On everything that any check has it tried on, so that the number of a process says nothing.
        """
        cases = evaluation.cases_of(check)
        every = [
            (one.run, case)
            for one in evaluation.question.spec.checks
            if isinstance(one, VerdictsCheck)
            for case in evaluation.cases_of(one)
        ]
        for run, case in random.Random(evaluation.secret_draw).sample(every, len(every)):
            if evaluation.runs_reference_first:
                evaluation.reference_outcome(run, case)
            try:
                evaluation.submission_outcome(run, case)
            except api.ProgramError:
                continue
            except api.WorkerError:  # asked again, it is the same
                break
        try:
            found = super().run_check(evaluation, check)
        except api.SubmissionStopped as stop:
            message = stop.result.message.rpartition(" (case ")[0]
            raise api.SubmissionStopped(
                _nameless(evaluation, replace(stop.result, message=message))
            ) from None
        told = {case.name: _said(CaseTrial(evaluation, check, case)) for case in cases}
        missed = [case for case in cases if told[case.name] != _right(check, case)]
        accepted = sum(told[name] == ACCEPTED for name in check.accept)
        rejected = sum(told[name] == REJECTED for name in check.reject)
        figures = {"right": len(check.accept), "accepted": accepted}
        figures |= {"wrong": len(check.reject), "rejected": rejected}
        said = []
        if check.accept:
            said.append(f"{accepted} of {len(check.accept)} right {check.called} accepted")
        if check.reject:
            ones = "ones" if check.accept else check.called
            said.append(f"{rejected} of {len(check.reject)} wrong {ones} rejected")
        message = "; ".join([", ".join(said), *_misses(check, missed, told)])
        shared = {**figures, "share": _share(figures)}
        return replace(_nameless(evaluation, found), message=message, figures=shared)

    def judge(self, trial: CaseTrial[VerdictsCheck]) -> api.CaseFinding | None:
        _ = trial.submission_outcome  # raises what the test did
        said = _said(trial)
        return None if said == _right(trial.check, trial.case) else api.CaseFinding(said)


def _said(trial: CaseTrial[VerdictsCheck]) -> str:
    """What a test says of one implementation, without what was odd about its calls."""
    of = trial.check.of
    try:
        text = trial.submission_result(of)
    except api.ProgramError as error:
        return f"{NO_VERDICT}, {f'raised {error.raised.public_type}' if error.raised else error.message}"
    if isinstance(text, str):
        return text.partition(" (")[0]
    raise api.BankProgramError(f"{of}: expected a text, found {api.describe_value(text)}")


def _right(check: VerdictsCheck, case: api.Case) -> str:
    return ACCEPTED if case.name in check.accept else REJECTED


def _misses(
    check: VerdictsCheck, missed: Sequence[api.Case], told: Mapping[str, str]
) -> Iterator[str]:
    """What is special about those on which it was wrong, by what it said of them."""
    by_kind: dict[str, list[str]] = {}
    for case in missed:
        said = told[case.name]
        if said in {ACCEPTED, REJECTED}:
            said = "rejected" if case.name in check.accept else "got through"
        by_kind.setdefault(said, []).append(" ".join((case.about or "no word").split()))
    for said, abouts in sorted(by_kind.items(), key=lambda one: one[0] != REJECTED):
        yield f"{said}: {' / '.join(abouts)}"


def _share(figures: Mapping[str, int]) -> float:
    """Which share of its points a check earns: nothing for a test that always says the same."""
    right, wrong = figures["right"], figures["wrong"]
    if not right or not wrong:
        return (figures["accepted"] + figures["rejected"]) / max(1, right + wrong)
    return max(0.0, figures["accepted"] / right + figures["rejected"] / wrong - 1.0)


def _nameless(evaluation: api.Evaluation, found: CheckResult) -> CheckResult:
    """A result without its cases, unless an audit asks, which runs programs of the bank's own."""
    if not evaluation.runs_reference_first:
        return found
    raised = found.raised and replace(found.raised, step="", called_with="")
    return replace(
        found, cases=(), failing=(), case_line="", about="", inputs={}, call="", raised=raised
    )
