"""Try a check case by case and gather what was found into one result.

The cases come smallest first, so the first finding is the one worth showing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from grader.cases.recipe import CaseRecipe, Recipe
from grader.grading.evaluation import Evaluation
from grader.model.number_format import format_shape
from grader.model.question import Scalar
from grader.model.report import (
    NON_FAILING_VERDICTS,
    Breakdown,
    CheckResult,
    ExceptionRecord,
    Exhibit,
    Mismatch,
    Verdict,
)
from grader.model.spec import Check
from grader.sandbox.client import LimitExceeded, WorkerError
from grader.sandbox.messages import ProgramError


@dataclass(frozen=True, slots=True)
class CaseFinding:
    """What was found on one case: what is wrong, or what was measured and is not."""

    sentence: str
    verdict: Verdict = Verdict.FAIL
    mismatch: Mismatch | None = None
    exhibit: Exhibit | None = None
    raised: ExceptionRecord | None = None
    subject: str = ""  # what differs ("grad_x"), so that a summary over cases can be made
    figures: Mapping[str, float] = field(default_factory=dict)  # measured numbers by name
    effect: bool = False  # nothing but what a call did besides returning its results

    @classmethod
    def for_pass(cls, sentence: str = "", **figures: float) -> CaseFinding:
        """What was measured where nothing is wrong."""
        return cls(sentence, Verdict.PASS, figures=figures)


MAX_CALL_LENGTH = 60  # characters of a call that a sentence can begin with
JudgeCase = Callable[[CaseRecipe], CaseFinding | None]


class SubmissionStopped(Exception):
    """The submission's process is gone; the result says how, and nothing more can be asked."""

    def __init__(self, result: CheckResult) -> None:
        """Keep the result of the check during which it happened."""
        super().__init__(result.message)
        self.result = result


def judge_all_cases(evaluation: Evaluation, check: Check, judge: JudgeCase) -> CheckResult:
    """Try every case and make the result.

    It says what was found on the first case on which something is wrong; where nothing is, on the
    last, and else the number of cases.  What `judge` raises is the submission's doing;
    the reference is run on each case before, unless `judge` does so itself.

    Raises:
        Stopped: the submission's process died or overran a limit.
        BankFault: the reference cannot be run on a case; no submission is tried on it.
    """
    cases = evaluation.cases_of(check)
    found: list[tuple[CaseRecipe, CaseFinding]] = []
    for case in cases:
        if evaluation.runs_reference_first:
            evaluation.reference_outcome(check.run, case)
        try:
            with evaluation.limits_applied(case):
                finding = judge(case)
        except ProgramError as error:
            finding = _raised(evaluation, check.run, case, error)
        except WorkerError as failure:
            finding = process_end_finding(f"your code {failure} (case {case.name})", failure)
            raise SubmissionStopped(_result(evaluation, check, cases, [(case, finding)])) from None
        if finding is not None:
            found.append((case, finding))
    return _result(evaluation, check, cases, found)


def _result(
    evaluation: Evaluation,
    check: Check,
    cases: Sequence[CaseRecipe],
    found: Sequence[tuple[CaseRecipe, CaseFinding]],
) -> CheckResult:
    wrong = [
        (case, finding) for case, finding in found if finding.verdict not in NON_FAILING_VERDICTS
    ]
    where: dict[str, Any] = {}
    if wrong:
        case, shown = wrong[0]
        verdict, given = shown.verdict, describe_inputs(evaluation, case, check.run)
        line = join_inputs(given)
        where = {"about": case.about, "case_line": f"{case.about}: {line}" if case.about else line}
        # Numbers that somebody wrote were called by nobody.
        if not (evaluation.question.spec.answers and isinstance(shown.exhibit, Breakdown)):
            result = shown.mismatch and shown.mismatch.result
            call = _call(evaluation, case, check.run, result) if result else ""
            where |= {"inputs": given, "call": call}
        alike = [f for _, f in wrong if f.subject == shown.subject and f.verdict == verdict]
        message = shown.sentence
        if len(alike) > 1 and shown.subject:
            message = (
                f"{shown.subject} differs in {len(alike)} of {len(cases)} cases; "
                f"the smallest is {case.name}"
            )
        elif shown.subject:
            message += f" in case {case.name}"
    else:
        shown = found[-1][1] if found else CaseFinding.for_pass()
        message = shown.sentence or f"{len(cases)} case{'' if len(cases) == 1 else 's'}"
        unsure = [case.name for case, f in found if f.verdict is Verdict.INCONCLUSIVE]
        message += f"; too close to call in {', '.join(unsure)}" if unsure else ""
        verdict = Verdict.INCONCLUSIVE if unsure else shown.verdict
    return CheckResult(
        id=check.id,
        kind=check.kind,
        verdict=verdict,
        message=message,
        cases=tuple(case.name for case in cases),
        failing=tuple(case.name for case, _ in wrong),
        stretch=check.stretch,
        mismatch=shown.mismatch,
        exhibit=shown.exhibit,
        raised=shown.raised,
        figures=dict(shown.figures),
        effect=shown.effect,
        **where,
    )


def describe_inputs(evaluation: Evaluation, case: CaseRecipe, run: str) -> dict[str, str]:
    """The inputs of a run by name, as a number or a shape: `3`, `(1, 1, 3, 3) float32`.

    Left out is what is None, or the same in every case by default.
    """
    drawn, found = evaluation.drawn_inputs(case), dict[str, str]()
    usual = evaluation.question.spec.defaults
    for name in evaluation.inputs(case, run):
        if case.inputs[name] == Recipe(None, usual.get(name)):
            continue
        words = _in_words(drawn[name])
        if isinstance(drawn[name], np.ndarray):
            recipe = case.inputs[name]
            dtype, layout = recipe.dtype or case.dtype, recipe.layout or case.layout
            words += "" if dtype in {"float64", "int64"} else f" {dtype}"
            words += "" if layout == "contiguous" else f" {layout}"
        found[name] = words
    return found


def join_inputs(given: Mapping[str, str]) -> str:
    """Inputs in words on one line: `kernel 3, stride 3, x (1, 1, 3, 3) float32`."""
    return ", ".join(f"{name} {words}".rstrip() for name, words in given.items())


def _in_words(value: object) -> str:
    if isinstance(value, np.ndarray):
        return format_shape(value.shape) if value.ndim else str(value.item())
    return str(value)


def _call(evaluation: Evaluation, case: CaseRecipe, run: str, result: str) -> str:
    """The call of the submission that gave a result, where it has no argument but short ones."""
    drawn = evaluation.drawn_inputs(case)
    for step in evaluation.steps(run):
        if step.owner == "submission" and step.targets == (result.partition("[")[0],):
            given, plain = [], True
            for argument in step.arguments:
                name, value = argument.name, argument.literal
                if name is not None:
                    value = drawn.get(name)
                known = argument.items is None and (name is None or name in drawn)
                plain = plain and known and isinstance(value, Scalar)
                given.append(f"{argument.keyword}={value!r}" if argument.keyword else repr(value))
            text = f"{step.function}({', '.join(given)})"
            return text if plain and len(text) <= MAX_CALL_LENGTH else ""
    return ""


def process_end_finding(sentence: str, failure: WorkerError) -> CaseFinding:
    """A finding about the end of the submission's process."""
    return CaseFinding(
        sentence, Verdict.LIMIT if isinstance(failure, LimitExceeded) else Verdict.ERROR
    )


_LACKS = re.compile(r"module 'submission' has no attribute '(\w+)'")
_REFUSED = re.compile(r"(\w+)[\w.]*\(\) (?:takes|missing|got) ")  # arguments that a call was given
_PLAIN_CALL = re.compile(r"[\w.]+\(\)")  # a line of a driver that says enough by itself


def _raised(evaluation: Evaluation, run: str, case: CaseRecipe, error: ProgramError) -> CaseFinding:
    """A finding about an exception of the submission, or about a result of the wrong form."""
    if error.raised is None:
        return CaseFinding(f"{error.message} (case {case.name})")
    record, step, who, asked = error.raised, error.step, "your code", ""
    if step is not None:
        drawn = evaluation.drawn_inputs(case)
        given = {name: _in_words(drawn[name]) if name in drawn else "" for name in step.names_read}
        record = replace(record, step=step.text, called_with=join_inputs(given))
        is_told = drawn.keys() >= set(step.names_read)
        if step.owner == "driver":  # which calls it with values of its own
            record = replace(record, called_with=error.given if record.frames else "")
        elif error.given and record.frames and not is_told:
            record = replace(record, called_with=error.given)
        if step.owner == "submission":
            who = f"your {step.function}"
        elif record.frames and record.frames[0].function.isidentifier():
            who = f"your {record.frames[0].function}"  # which a driver called
        alike = [s for s in evaluation.steps(run) if s.function == step.function]
        if step.owner == "submission" and len(alike) > 1:
            asked = f", asked for {step.targets[0]}"
    if step is not None and step.owner in {"driver", "judge"} and not record.frames:
        if lacking := _LACKS.fullmatch(record.message):  # which the driver alone calls
            return CaseFinding(f"your file defines no {lacking[1]}", Verdict.ERROR)
        sentence = f"{_raised_by_driver(error, record)} in case {case.name}"
        return CaseFinding(sentence, Verdict.ERROR, raised=record)
    verdict = Verdict.LIMIT if error.is_out_of_memory else Verdict.ERROR
    sentence = f"{who} raised {record.type}{asked} in case {case.name}"
    return CaseFinding(sentence, verdict, raised=record)


def _raised_by_driver(error: ProgramError, record: ExceptionRecord) -> str:
    """Say that a driver raised, at which line if it is plain, and after which call of its program.

    That the program's result cannot be used would be too much: it may have done something else.
    """
    refused = _REFUSED.match(record.message)
    if record.type == "TypeError" and refused and refused[1] == error.after:
        return f"your {error.after} does not take the arguments of its interface"
    line = error.where.rpartition(": ")[2]
    who = line if _PLAIN_CALL.fullmatch(line) else "the check"
    after = f" after the call of your {error.after}" if error.after else ""
    return f"{who} raised {record.type}{after}"
