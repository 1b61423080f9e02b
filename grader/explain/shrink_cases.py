"""A smaller input on which a check fails: shorter sides, then small whole numbers.

What is shown of a drawn case may be a large array of long numbers.  Smaller ones are tried in a few
batches; the reference has to take each, and the check itself says whether it fails there.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from grader.cases.recipe import CaseRecipe, Recipe
from grader.cases.vary import variable_side_lengths, with_side_lengths, with_small_integers
from grader.explain.extra_cases import ExtraCases
from grader.grading.case_by_case import CaseFinding, describe_inputs, join_inputs
from grader.grading.evaluation import BankProgramError, Evaluation
from grader.grading.kinds import registry
from grader.grading.kinds.base import CaseTrial
from grader.model.limits import EXTRA_CALL_SECONDS
from grader.model.report import SMALLER_INPUTS_NOTE, CheckResult, Verdict
from grader.model.spec import Check
from grader.sandbox import OutOfTime
from grader.sandbox.client import WorkerError
from grader.sandbox.messages import ProgramError

MAX_TRIED_INPUTS = 40  # inputs that are tried
MAX_READABLE_ENTRIES = 12  # entries of the inputs together, with which a case is small enough


def shrink_counterexamples(
    evaluation: Evaluation, checks: Sequence[CheckResult]
) -> tuple[CheckResult, ...]:
    """The results of checks, the first of those that fail by an entry shown on a smaller input."""
    by_id = {check.id: check for check in evaluation.question.spec.checks}
    worker = evaluation.submission.worker
    for number, result in enumerate(checks):
        kind, worst = registry.kind_named(result.kind), result.mismatch
        failed = result.verdict is Verdict.FAIL and not result.stretch
        by_entry = worst is not None and worst.index is not None and kind.judges_values
        if failed and by_entry and not kind.uses_observation(by_id[result.id]):
            with contextlib.suppress(WorkerError, OutOfTime, BankProgramError):
                if worker.failure is None:
                    found = _smaller(evaluation, by_id[result.id], result)
                    return (*checks[:number], found, *checks[number + 1 :])
            break
    return tuple(checks)


def _smaller(evaluation: Evaluation, check: Check, result: CheckResult) -> CheckResult:
    """A result of a check that fails by an entry, showing a smaller input where there is one."""
    assert result.mismatch is not None, "it does not fail by an entry"
    origin, wrong = evaluation.cases[result.mismatch.case], result.mismatch.result
    small = (
        sum(np.size(value) for value in evaluation.drawn_inputs(origin).values())
        <= MAX_READABLE_ENTRIES
    )
    if small or evaluation.bank is None:
        return result
    # What is shown follows from the seed, as the cases do.
    key = ("smaller", evaluation.parts_asked)
    made = evaluation.remember(key, lambda: ExtraCases(evaluation, evaluation.seed))
    program = replace(evaluation.submission, call_seconds=EXTRA_CALL_SECONDS)
    theirs = made.evaluation.with_submission(program, evaluation.seed)
    judge = registry.kind_named(check.kind).judge
    best, finding = origin, CaseFinding("")
    tried = {_name(origin, origin)}
    for step in (_fewer, _fewer, _simpler, _fewer):
        named = (replace(case, name=_name(case, origin)) for case in step(best))
        new = [case for case in named if case.name not in tried][: MAX_TRIED_INPUTS - len(tried)]
        tried |= {case.name for case in new}
        cases = made.accepted_by_reference(check.run, new, origin.name)
        theirs.prefetch([program], check.run, cases)
        # How much there is to read: entries, then inputs of long numbers.
        for case in sorted(
            cases, key=lambda c: (theirs.display_order(c)[0], _long_inputs(c), c.name)
        ):
            found = None
            with contextlib.suppress(ProgramError, BankProgramError):
                found = judge(CaseTrial(theirs, check, case))
            worst = None if found is None else found.mismatch
            if found and worst and worst.result == wrong and worst.index is not None:
                best, finding = case, found
                break
    if finding.mismatch is None:
        return result
    given = describe_inputs(theirs, best, check.run)
    again = result.message
    if len(result.failing) < 2:  # else it names no value
        again = f"{finding.sentence} in case {origin.name}"
    return replace(
        result,
        message=again,
        mismatch=replace(finding.mismatch, case=origin.name),
        exhibit=finding.exhibit,
        about=SMALLER_INPUTS_NOTE,
        inputs=given,
        case_line=f"{SMALLER_INPUTS_NOTE}: {join_inputs(given)}",
        call="",
    )


def _long_inputs(case: CaseRecipe) -> int:
    return sum(r.generator != "integers" for r in case.inputs.values() if r.is_drawn)


def _fewer(case: CaseRecipe) -> Iterator[CaseRecipe]:
    """The case with shorter sides: all of them at once, then each alone."""
    lengths = sorted(variable_side_lengths(case))
    for most in (1, 2, 3):
        yield with_side_lengths(case, {n: min(n, most) for n in lengths})
    for length in lengths:
        for shorter in sorted({1, 2, length - 1}):
            if 0 < shorter < length:
                yield with_side_lengths(case, {length: shorter})


def _simpler(case: CaseRecipe) -> Iterator[CaseRecipe]:
    """The case with small whole numbers, in every input and in each alone."""
    simple = {name: with_small_integers(recipe) for name, recipe in case.inputs.items()}
    yield replace(case, inputs=simple)
    for name, recipe in simple.items():
        if recipe != case.inputs[name]:
            yield replace(case, inputs={**case.inputs, name: recipe})


def _name(case: CaseRecipe, origin: CaseRecipe) -> str:
    """A name that says what was made of a case, so that the same one is drawn alike."""

    def form(recipe: Recipe) -> str:
        whole = "i" if recipe.generator == "integers" else ""
        return whole + "x".join(map(str, recipe.shape or ()))

    forms = ",".join(form(recipe) for recipe in case.inputs.values() if recipe.is_array)
    return f"{origin.name}~{forms}"
