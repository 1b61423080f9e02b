"""Check `verdicts`: a test accepts right implementations and rejects wrong ones.

Each case is an implementation that the submitted test runs on.  The test's answer is "accepted",
"rejected", no verdict, or that it depends on the draw.  The message has the numbers of right and
wrong implementations that were accepted and rejected, and describes those that the test judged
wrongly, in the words of their cases.  It never names a case.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Literal

from pydantic import model_validator

from grader.grading.kinds.base import (
    CaseFinding,
    CaseTrial,
    Check,
    CheckResult,
    Kind,
    api,
    without_cases,
)
from grader.model.errors import KeyPath
from grader.model.spec import Name, Slug, yaml_key

ACCEPTED = "accepted"
REJECTED = "rejected"
NO_VERDICT = "no verdict"


class VerdictsCheck(Check):
    """Verdicts of a test on right and wrong implementations."""

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
    def _fill_in_cases(cls, keys: Any) -> Any:  # noqa: ANN401 any YAML value
        """Set `cases`, which all other code reads, to the cases of `accept` and `reject`."""
        if not isinstance(keys, dict) or "cases" in keys:
            return keys
        accept = keys.get("accept") or []
        reject = keys.get("reject") or []
        if not isinstance(accept, list) or not isinstance(reject, list):
            return keys
        return {**keys, "cases": [*accept, *reject]}

    def spec_errors(self) -> Iterator[tuple[KeyPath, str]]:
        if self.cases != [*self.accept, *self.reject]:
            yield ("cases",), "expected accept and reject in place of cases"
        for name in sorted(set(self.accept) & set(self.reject)):
            yield ("reject",), f"expected each case once, found {name} in accept as well"


class VerdictsKind(Kind[VerdictsCheck]):
    """Require that a test accepts every right implementation and rejects every wrong one.

    A failing check earns points by the shares that are accepted and rejected; see `_share`.
    """

    check_model = VerdictsCheck
    judges_values = True

    def run_check(self, evaluation: api.Evaluation, check: VerdictsCheck) -> CheckResult:
        _run_all_in_secret_order(evaluation)
        try:
            result = super().run_check(evaluation, check)
        except api.SubmissionStopped as stop:
            result = replace(stop.result, message=stop.sentence)
            raise api.SubmissionStopped(_without_cases(evaluation, result), stop.sentence) from None
        answers = {}
        missed = []
        for case in evaluation.cases_of(check):
            answers[case.name] = _answer(CaseTrial(evaluation, check, case))
            if answers[case.name] != _right_answer(check, case):
                missed.append(case)
        accepted = sum(answers[name] == ACCEPTED for name in check.accept)
        rejected = sum(answers[name] == REJECTED for name in check.reject)
        counts = []
        if check.accept:
            counts.append(f"{accepted} of {len(check.accept)} right {check.called} accepted")
        if check.reject:
            noun = "ones" if check.accept else check.called
            counts.append(f"{rejected} of {len(check.reject)} wrong {noun} rejected")
        figures = {
            "right": len(check.accept),
            "accepted": accepted,
            "wrong": len(check.reject),
            "rejected": rejected,
            "share": _share(check, accepted, rejected),
        }
        message = "; ".join([", ".join(counts), *_describe_missed(check, missed, answers)])
        return replace(_without_cases(evaluation, result), message=message, figures=figures)

    def judge(self, trial: CaseTrial[VerdictsCheck]) -> CaseFinding | None:
        _ = trial.subject_outcome  # raises the test's exception
        answer = _answer(trial)
        if answer == _right_answer(trial.check, trial.case):
            return None
        return CaseFinding(answer)


def _run_all_in_secret_order(evaluation: api.Evaluation) -> None:
    """Run the test on the cases of all checks of this kind, in a random order.

    So the test cannot tell from the order which implementations are right.
    """
    runs_and_cases = [
        (check.run, case)
        for check in evaluation.question.spec.checks
        if isinstance(check, VerdictsCheck)
        for case in evaluation.cases_of(check)
    ]
    rng = random.Random(evaluation.secret_draw)
    for run, case in rng.sample(runs_and_cases, len(runs_and_cases)):
        if evaluation.runs_reference_first:
            evaluation.reference_outcome(run, case)
        try:
            evaluation.subject_outcome(run, case)
        except api.ProgramError:
            continue
        except api.WorkerError:  # raised again when the check asks for the outcome
            break


def _answer(trial: CaseTrial[VerdictsCheck]) -> str:
    """Return the test's answer on one implementation, such as "no verdict, raised KeyError".

    Remarks in parentheses are left out.
    """
    result = trial.check.of
    try:
        text = trial.subject_result(result)
    except api.ProgramError as error:
        if error.raised is None:
            return f"{NO_VERDICT}, {error.message}"
        return f"{NO_VERDICT}, raised {error.raised.public_type}"
    if isinstance(text, str):
        return text.partition(" (")[0]
    raise api.BankProgramError(f"{result}: expected a text, found {api.describe_value(text)}")


def _right_answer(check: VerdictsCheck, case: api.Case) -> str:
    return ACCEPTED if case.name in check.accept else REJECTED


def _describe_missed(
    check: VerdictsCheck, missed: Sequence[api.Case], answers: Mapping[str, str]
) -> Iterator[str]:
    """Yield a text for each wrong answer of the test, with what its cases are about.

    "rejected: a plain mean / a sum in float64", then "got through: the mask is left out".
    """
    descriptions: dict[str, list[str]] = {}
    for case in missed:
        answer = answers[case.name]
        if answer in {ACCEPTED, REJECTED}:
            answer = "rejected" if case.name in check.accept else "got through"
        about = case.about or "no word"
        descriptions.setdefault(answer, []).append(" ".join(about.split()))
    for answer in sorted(descriptions, key=lambda answer: answer != REJECTED):
        yield f"{answer}: {' / '.join(descriptions[answer])}"


def _share(check: VerdictsCheck, accepted: int, rejected: int) -> float:
    """Return the earned share of the points: 1.0 if every answer is right.

    It is the accepted share of the right implementations, plus the rejected share of the wrong
    ones, minus 1: a test that always gives the same answer earns none.  If all implementations are
    right, or all are wrong, it is the share of right answers.
    """
    right = len(check.accept)
    wrong = len(check.reject)
    if not right or not wrong:
        return (accepted + rejected) / max(1, right + wrong)
    return max(0.0, accepted / right + rejected / wrong - 1.0)


def _without_cases(evaluation: api.Evaluation, result: CheckResult) -> CheckResult:
    """Remove the cases from a submission's result.  An audit of the bank's programs keeps them."""
    if not evaluation.runs_reference_first:
        return result
    raised = result.raised and replace(result.raised, step="", called_with="")
    return replace(without_cases(result), raised=raised)
