"""Shrink a counterexample: find a small input, with small integers, on which a check fails.

A drawn case may be a large array of long numbers, hard to read.  A few batches of smaller inputs
are tried.  The reference must accept each of them, and the check itself decides whether it fails.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from grader.cases.recipe import CaseRecipe, Recipe
from grader.cases.vary import variable_side_lengths, with_side_lengths, with_small_integers
from grader.explain.extra_cases import ExtraCases
from grader.grading.bank_errors import BankProgramError
from grader.grading.case_by_case import describe_inputs, join_inputs
from grader.grading.case_finding import CaseFinding
from grader.grading.evaluation import Evaluation
from grader.grading.kinds import registry
from grader.grading.kinds.base import CaseTrial
from grader.model.limits import EXTRA_CALL_SECONDS
from grader.model.report import SMALLER_INPUTS_NOTE, CheckResult, Verdict
from grader.model.spec import Check
from grader.sandbox import OutOfTime
from grader.sandbox.client import WorkerError
from grader.sandbox.messages import ProgramError

MAX_TRIED_INPUTS = 40
MAX_READABLE_ENTRIES = 12  # entries of all inputs together: such a case needs no shrinking


def shrink_counterexamples(
    evaluation: Evaluation, checks: Sequence[CheckResult]
) -> tuple[CheckResult, ...]:
    """Return the results of the checks, where one shows a smaller input if one is found.

    It is the first that fails because an entry of a result is wrong.
    """
    specs = {check.id: check for check in evaluation.question.spec.checks}
    for index, result in enumerate(checks):
        if _fails_by_entry(specs[result.id], result):
            with contextlib.suppress(WorkerError, OutOfTime, BankProgramError):
                if evaluation.subject.worker.failure is None:
                    smaller = _with_smaller_input(evaluation, specs[result.id], result)
                    return (*checks[:index], smaller, *checks[index + 1 :])
            break
    return tuple(checks)


def _fails_by_entry(check: Check, result: CheckResult) -> bool:
    """Return True if a required check fails because an entry of a result is wrong."""
    kind = registry.kind_named(check.kind)
    mismatch = result.mismatch
    if result.verdict is not Verdict.FAIL or result.stretch:
        return False
    if mismatch is None or mismatch.index is None:
        return False
    return kind.judges_values and not kind.uses_observation(check)


def _with_smaller_input(evaluation: Evaluation, check: Check, result: CheckResult) -> CheckResult:
    """Return the result of a check, with a smaller input if one is found."""
    assert result.mismatch is not None, "it does not fail by an entry"
    origin = evaluation.cases[result.mismatch.case]
    drawn = evaluation.drawn_inputs(origin)
    entries = sum(np.size(value) for value in drawn.values())
    if entries <= MAX_READABLE_ENTRIES:
        return result
    # The seed decides which input is shown, as it decides the cases.
    key = ("smaller", evaluation.parts_asked)
    extra = evaluation.remember(key, lambda: ExtraCases(evaluation, evaluation.seed))
    program = replace(evaluation.subject, call_seconds=EXTRA_CALL_SECONDS)
    submission = extra.evaluation.with_subject(program, evaluation.seed)
    smallest = origin
    finding: CaseFinding | None = None
    tried = {_case_name(origin, origin)}
    for variations in (_shorter_cases, _shorter_cases, _simpler_cases, _shorter_cases):
        varied = [replace(v, name=_case_name(v, origin)) for v in variations(smallest)]
        untried = [case for case in varied if case.name not in tried]
        new = untried[: MAX_TRIED_INPUTS - len(tried)]
        tried.update(case.name for case in new)
        cases = extra.accepted_by_reference(check.run, new, origin.name)
        submission.prefetch([program], check.run, cases)
        for case in sorted(cases, key=lambda case: _reading_effort(submission, case)):
            new_finding = _judge_entry(submission, check, case, result.mismatch.result)
            if new_finding is not None:
                smallest = case
                finding = new_finding
                break
    if finding is None or finding.mismatch is None:
        return result
    inputs = describe_inputs(submission, smallest, check.run)
    message = result.message
    if len(result.failing) < 2:  # with several failing cases, the message names no value
        message = f"{finding.sentence} in case {origin.name}"
    return replace(
        result,
        message=message,
        mismatch=replace(finding.mismatch, case=origin.name),
        exhibit=finding.exhibit,
        about=SMALLER_INPUTS_NOTE,
        inputs=inputs,
        case_line=f"{SMALLER_INPUTS_NOTE}: {join_inputs(inputs)}",
        call="",
    )


def _judge_entry(
    submission: Evaluation, check: Check, case: CaseRecipe, result: str
) -> CaseFinding | None:
    """Return what a check finds about a wrong entry of a result; None if it finds no such entry."""
    with contextlib.suppress(ProgramError, BankProgramError):
        finding = registry.kind_named(check.kind).judge(CaseTrial(submission, check, case))
        mismatch = finding and finding.mismatch
        if mismatch and mismatch.result == result and mismatch.index is not None:
            return finding
    return None


def _reading_effort(submission: Evaluation, case: CaseRecipe) -> tuple[int, int, str]:
    """Return a sort key, smaller for fewer entries, then for fewer inputs with long numbers."""
    drawn = [recipe for recipe in case.inputs.values() if recipe.is_drawn]
    long_inputs = sum(recipe.generator != "integers" for recipe in drawn)
    return submission.display_order(case)[0], long_inputs, case.name


def _shorter_cases(case: CaseRecipe) -> Iterator[CaseRecipe]:
    """Yield the case with shorter sides: first all of them, then only one."""
    lengths = sorted(variable_side_lengths(case))
    for max_length in (1, 2, 3):
        yield with_side_lengths(case, {length: min(length, max_length) for length in lengths})
    for length in lengths:
        for shorter in sorted({1, 2, length - 1}):
            if 0 < shorter < length:
                yield with_side_lengths(case, {length: shorter})


def _simpler_cases(case: CaseRecipe) -> Iterator[CaseRecipe]:
    """Yield the case with small integers: first in all inputs, then in only one."""
    simpler = {name: with_small_integers(recipe) for name, recipe in case.inputs.items()}
    yield replace(case, inputs=simpler)
    for name, recipe in simpler.items():
        if recipe != case.inputs[name]:
            yield replace(case, inputs={**case.inputs, name: recipe})


def _case_name(case: CaseRecipe, origin: CaseRecipe) -> str:
    """Return a name made of the shapes of a case, as "small~2x3,i4" (i for small integers).

    The name decides the draws, so cases that differ in nothing else are drawn alike.
    """

    def describe_shape(recipe: Recipe) -> str:
        prefix = "i" if recipe.generator == "integers" else ""
        return prefix + "x".join(map(str, recipe.shape or ()))

    shapes = ",".join(describe_shape(r) for r in case.inputs.values() if r.is_array)
    return f"{origin.name}~{shapes}"
