"""Findings on single cases, and the result of a check that is made of them.

The cases come smallest first, so the first finding is the one worth showing.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from grader.cases.recipe import CaseRecipe, Recipe
from grader.grading.case_finding import CaseFinding
from grader.grading.evaluation import Evaluation
from grader.model.number_format import format_count, format_shape
from grader.model.report import (
    NON_FAILING_VERDICTS,
    Breakdown,
    CheckResult,
    ExceptionRecord,
    Verdict,
)
from grader.model.spec import Check
from grader.model.steps import Scalar, Step
from grader.sandbox.client import LimitExceeded, WorkerError
from grader.sandbox.messages import ProgramError

MAX_CALL_LENGTH = 60  # characters of a call that a sentence can begin with

_MISSING_FUNCTION = re.compile(r"module 'submission' has no attribute '(\w+)'")
_WRONG_ARGUMENTS = re.compile(r"(\w+)[\w.]*\(\) (?:takes|missing|got) ")
_PLAIN_CALL = re.compile(r"[\w.]+\(\)")  # a line of a driver that is clear by itself


CaseFindings = Sequence[tuple[CaseRecipe, CaseFinding]]


class SubmissionStopped(Exception):
    """The submission's process has ended during a check; it cannot be asked anything more."""

    def __init__(self, result: CheckResult, sentence: str) -> None:
        """Keep the result of the check, and the same sentence without the name of the case."""
        super().__init__(result.message)
        self.result = result
        self.sentence = sentence


def check_result(
    evaluation: Evaluation, check: Check, cases: Sequence[CaseRecipe], findings: CaseFindings
) -> CheckResult:
    """Make the result of a check on these cases.

    It shows the first failing finding, if any, else the last one, else the number of cases.  If
    nothing fails and one case is inconclusive, the check is inconclusive.
    """
    failing = [
        (case, finding) for case, finding in findings if finding.verdict not in NON_FAILING_VERDICTS
    ]
    place: dict[str, Any] = {}
    if failing:
        case, finding = failing[0]
        verdict = finding.verdict
        message = _failing_message(failing, len(cases))
        place = _place_fields(evaluation, check, case, finding)
    else:
        finding = findings[-1][1] if findings else CaseFinding.for_pass()
        message = finding.sentence or format_count(len(cases), "case")
        verdict = finding.verdict
        unsure = [case.name for case, each in findings if each.verdict is Verdict.INCONCLUSIVE]
        if unsure:
            message += f"; too close to call in {', '.join(unsure)}"
            verdict = Verdict.INCONCLUSIVE
    decides = any(each.always_decides for _, each in failing)
    return CheckResult(
        id=check.id,
        kind=check.kind,
        verdict=verdict,
        message=message,
        cases=tuple(case.name for case in cases),
        failing=tuple(case.name for case, _ in failing),
        stretch=check.stretch and not decides,
        mismatch=finding.mismatch,
        exhibit=finding.exhibit,
        raised=finding.raised,
        figures=dict(finding.figures),
        effect=finding.effect,
        **place,
    )


def _failing_message(failing: CaseFindings, case_count: int) -> str:
    """Return the sentence of the first finding.

    If the same result is wrong in several cases, return a sentence on all of them: "grad_x differs
    in 3 of 9 cases; the smallest is one-window".
    """
    case, shown = failing[0]
    if not shown.wrong_result:
        return shown.sentence
    similar = [
        finding
        for _, finding in failing
        if finding.wrong_result == shown.wrong_result and finding.verdict == shown.verdict
    ]
    if len(similar) == 1:
        return f"{shown.sentence} in case {case.name}"
    return (
        f"{shown.wrong_result} differs in {len(similar)} of {case_count} cases; "
        f"the smallest is {case.name}"
    )


def _place_fields(
    evaluation: Evaluation, check: Check, case: CaseRecipe, finding: CaseFinding
) -> dict[str, Any]:
    """Return the fields of a result that describe its case and the call."""
    inputs = describe_inputs(evaluation, case, check.run)
    line = join_inputs(inputs)
    fields: dict[str, Any] = {
        "about": case.about,
        "case_line": f"{case.about}: {line}" if case.about else line,
    }
    # If a person wrote the numbers, there are no inputs and no call.
    if not (evaluation.question.spec.answers and isinstance(finding.exhibit, Breakdown)):
        fields["inputs"] = inputs
        fields["call"] = ""
        if finding.mismatch and finding.mismatch.result:
            fields["call"] = _call_text(evaluation, case, check.run, finding.mismatch.result)
    return fields


def describe_inputs(evaluation: Evaluation, case: CaseRecipe, run: str) -> dict[str, str]:
    """Return the inputs of a run by name, as a number or a shape: `3`, `(1, 1, 3, 3) float32`.

    Inputs that are None, or equal to the question's default, are left out.
    """
    drawn = evaluation.drawn_inputs(case)
    defaults = evaluation.question.spec.defaults
    descriptions = {}
    for name in evaluation.inputs(case, run):
        recipe = case.inputs[name]
        if recipe == Recipe(None, defaults.get(name)):
            continue
        text = _value_or_shape(drawn[name])
        if isinstance(drawn[name], np.ndarray):
            dtype = recipe.dtype or case.dtype
            layout = recipe.layout or case.layout
            if dtype not in {"float64", "int64"}:
                text += f" {dtype}"
            if layout != "contiguous":
                text += f" {layout}"
        descriptions[name] = text
    return descriptions


def join_inputs(descriptions: Mapping[str, str]) -> str:
    """Join inputs into one line: `kernel 3, stride 3, x (1, 1, 3, 3) float32`."""
    return ", ".join(f"{name} {text}".rstrip() for name, text in descriptions.items())


def _value_or_shape(value: object) -> str:
    if isinstance(value, np.ndarray):
        return format_shape(value.shape) if value.ndim else str(value.item())
    return str(value)


def _call_text(evaluation: Evaluation, case: CaseRecipe, run: str, result: str) -> str:
    """Return the submission's call that gave a result: "gpus(7, 'bf16')".

    Returns "" if the call is long, has an argument other than a scalar, or gave several results.
    """
    drawn = evaluation.drawn_inputs(case)
    target = result.partition("[")[0]
    for step in evaluation.steps(run):
        if step.owner == "submission" and step.targets == (target,):
            text = _call_of_step(step, drawn)
            return text if len(text) <= MAX_CALL_LENGTH else ""
    return ""


def _call_of_step(step: Step, drawn: Mapping[str, Any]) -> str:
    """Return the call of a step with its argument values; empty if one is not a scalar."""
    arguments = []
    for argument in step.arguments:
        value = argument.literal
        if argument.name is not None:
            value = drawn.get(argument.name)
        is_known = argument.name is None or argument.name in drawn
        if argument.items is not None or not is_known or not isinstance(value, Scalar):
            return ""
        arguments.append(f"{argument.keyword}={value!r}" if argument.keyword else repr(value))
    return f"{step.function}({', '.join(arguments)})"


def verdict_of_process_end(failure: WorkerError) -> Verdict:
    """Return LIMIT if a submission's process ended because of a limit, else ERROR."""
    return Verdict.LIMIT if isinstance(failure, LimitExceeded) else Verdict.ERROR


def exception_finding(
    evaluation: Evaluation, run: str, case: CaseRecipe, error: ProgramError
) -> CaseFinding:
    """Return the finding on a ProgramError of a submission.

    The submission raised an exception, or returned a value that a step cannot use.
    """
    if error.raised is None:
        return CaseFinding(f"{error.message} (case {case.name})")
    record = error.raised
    culprit = "your code"
    step = error.step
    if step is not None:
        record = _with_call(evaluation, case, step, error)
        if step.owner in {"driver", "judge"} and not record.frames:
            return _driver_finding(case, error, record)
        if step.owner == "submission":
            culprit = f"your {step.function}"
        elif record.frames and record.frames[0].function.isidentifier():
            culprit = f"your {record.frames[0].function}"  # a function that a driver called
    sentence = f"{culprit} raised {record.type}"
    if step is not None and step.owner == "submission":
        function_steps = [s for s in evaluation.steps(run) if s.function == step.function]
        if len(function_steps) > 1:
            sentence += f", asked for {step.targets[0]}"
    verdict = Verdict.LIMIT if error.is_out_of_memory else Verdict.ERROR
    return CaseFinding(f"{sentence} in case {case.name}", verdict, raised=record)


def _with_call(
    evaluation: Evaluation, case: CaseRecipe, step: Step, error: ProgramError
) -> ExceptionRecord:
    """Return the record of an exception, completed by the step that raised and its arguments."""
    record = error.raised
    assert record is not None
    drawn = evaluation.drawn_inputs(case)
    descriptions = {
        name: _value_or_shape(drawn[name]) if name in drawn else "" for name in step.names_read
    }
    arguments = join_inputs(descriptions)
    if step.owner == "driver":  # it chooses the arguments
        arguments = error.given if record.frames else ""
    elif error.given and record.frames and not drawn.keys() >= set(step.names_read):
        arguments = error.given
    return replace(record, step=step.text, called_with=arguments)


def _driver_finding(case: CaseRecipe, error: ProgramError, record: ExceptionRecord) -> CaseFinding:
    """Return the finding on an exception that a driver raised while no submitted code ran.

    It names the driver's line, if that is clear by itself, and the submission's last call.  It does
    not say that the result of this call is wrong: the driver may have done something else since.
    """
    missing = _MISSING_FUNCTION.fullmatch(record.message)
    if missing:
        return CaseFinding(f"your file defines no {missing[1]}", Verdict.ERROR)
    wrong_arguments = _WRONG_ARGUMENTS.match(record.message)
    if record.type == "TypeError" and wrong_arguments and wrong_arguments[1] == error.after:
        sentence = f"your {error.after} does not take the arguments of its interface"
    else:
        line = error.where.rpartition(": ")[2]
        culprit = line if _PLAIN_CALL.fullmatch(line) else "the check"
        sentence = f"{culprit} raised {record.type}"
        if error.after:
            sentence += f" after the call of your {error.after}"
    return CaseFinding(f"{sentence} in case {case.name}", Verdict.ERROR, raised=record)
