"""A smaller input on which a check fails: sides first, then small whole numbers.

What is shown of a drawn case may be a large array of long numbers.  Smaller ones are tried in a
few batches, from the smallest failing case on; the reference has to take each, and the check itself
says whether it fails there.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from grader.cases.inputs import Recipe
from grader.cases.recipe import CaseRecipe
from grader.cases.vary import rounder, sides, with_sides
from grader.evaluation.evaluation import BankFault, Evaluation
from grader.evaluation.tally import Finding, inputs_in_words, together
from grader.explain.further import CALL_SECONDS, Further, keeping_output
from grader.kinds import registry
from grader.model.keys import Check
from grader.model.report import MADE_SMALLER, CheckResult, Mismatch
from grader.model.verdict import Verdict
from grader.sandbox.client import WorkerError
from grader.sandbox.deadline import OutOfTime
from grader.sandbox.replies import ProgramError

MOST = 40  # inputs that are tried
READABLE = 12  # entries of the inputs together, with which a case is small enough


def made_readable(evaluation: Evaluation, checks: Sequence[CheckResult]) -> tuple[CheckResult, ...]:
    """The results of checks, the first of those that fail by a value shown on a smaller input."""
    by_id = {check.id: check for check in evaluation.question.spec.checks}
    first = next((c for c in checks if not c.stretch and _can_shrink(by_id[c.id], c)), None)
    if first is None or evaluation.submission.worker.failure is not None:
        return tuple(checks)
    with keeping_output(evaluation.submission.worker):
        found = first
        with contextlib.suppress(WorkerError, OutOfTime, BankFault):
            found = smaller(evaluation, first)
    return tuple(found if check is first else check for check in checks)


def smaller(evaluation: Evaluation, result: CheckResult) -> CheckResult:
    """A result that shows a smaller input, where there is one; else the same.

    Args:
        evaluation: with the submission, after its checks.
        result: of a check that fails; it stays as it is but for what it shows.

    Raises:
        WorkerError: the submission's process did not survive it.
        BankFault: the reference cannot be loaded again.
    """
    check = next(c for c in evaluation.question.spec.checks if c.id == result.id)
    shown = result.mismatch
    if not _can_shrink(check, result) or evaluation.bank is None or shown is None:
        return result
    origin = evaluation.cases[shown.case]
    if sum(np.size(value) for value in evaluation.drawn(origin).values()) <= READABLE:
        return result
    # What is shown follows from the seed, as the cases do.
    key = (evaluation.seed, "smaller", evaluation.parts_asked)
    made = evaluation.shared(key, lambda: Further(evaluation, evaluation.seed))
    program = replace(evaluation.submission, call_seconds=CALL_SECONDS)
    theirs = made.evaluation.with_submission(program, evaluation.seed)
    best: tuple[CaseRecipe, Finding] | None = None
    tried = {_name(origin, origin)}
    for step in (_fewer, _fewer, _simpler, _fewer):
        current = origin if best is None else best[0]
        new = [c for c in step(current, origin) if c.name not in tried][: MOST - len(tried)]
        tried |= {case.name for case in new}
        found = _failing(theirs, made, check, new, origin.name, shown.result)
        if found:
            best = min(found, key=lambda pair: _reading(theirs, pair[0]))
    if best is None:
        return result
    case, finding = best
    assert finding.mismatch is not None
    worst = replace(finding.mismatch, case=origin.name)
    given = inputs_in_words(theirs, case, check.run)
    return replace(
        result, mismatch=worst, exhibit=finding.exhibit, about=MADE_SMALLER, inputs=given,
        case_line=f"{MADE_SMALLER}: {together(given)}", call="",
    )  # fmt: skip


def _can_shrink(check: Check, result: CheckResult) -> bool:
    """Whether a check shows an entry of a drawn case, and tells by values alone."""
    kind = registry.get(check.kind)
    return (
        result.verdict is Verdict.FAIL
        and result.mismatch is not None
        and result.mismatch.index is not None
        and kind.judges_values
        and not kind.is_observed(check)
    )


def _failing(
    theirs: Evaluation,
    made: Further,
    check: Check,
    new: Sequence[CaseRecipe],
    origin: str,
    result: str,
) -> list[tuple[CaseRecipe, Finding]]:
    """Those on which the same result is wrong in an entry, with what the check finds."""
    cases = made.taken(check.run, new, origin)
    theirs.values([theirs.submission], check.run, cases)
    found = []
    for case in cases:
        try:
            finding = registry.get(check.kind).judge(theirs, check, case)
        except (ProgramError, BankFault):
            continue
        if finding is not None and _is_alike(finding.mismatch, result):
            found.append((case, finding))
    return found


def _reading(theirs: Evaluation, case: CaseRecipe) -> tuple[int, int, str]:
    """How much there is to read: entries, then inputs of long numbers."""
    long = sum(r.generator != "integers" for r in case.inputs.values() if r.is_drawn)
    return theirs.weight(case)[0], long, case.name


def _is_alike(worst: Mismatch | None, result: str) -> bool:
    """Whether what is wrong is an entry of that result again."""
    return worst is not None and worst.result == result and worst.index is not None


def _fewer(case: CaseRecipe, origin: CaseRecipe) -> Iterator[CaseRecipe]:
    """The case with shorter sides: all of them at once, then each alone."""
    lengths = sorted(sides(case))
    for most in (1, 2, 3):
        yield _named(with_sides(case, {n: min(n, most) for n in lengths}), origin)
    for length in lengths:
        for shorter in sorted({1, 2, length - 1}):
            if 0 < shorter < length:
                yield _named(with_sides(case, {length: shorter}), origin)


def _simpler(case: CaseRecipe, origin: CaseRecipe) -> Iterator[CaseRecipe]:
    """The case with small whole numbers, in every input and in each alone."""
    simple = {name: rounder(recipe) for name, recipe in case.inputs.items()}
    yield _named(replace(case, inputs=simple), origin)
    for name, recipe in simple.items():
        if recipe != case.inputs[name]:
            yield _named(replace(case, inputs={**case.inputs, name: recipe}), origin)


def _named(case: CaseRecipe, origin: CaseRecipe) -> CaseRecipe:
    return replace(case, name=_name(case, origin))


def _name(case: CaseRecipe, origin: CaseRecipe) -> str:
    """A name that says what was made of a case, so that the same one is drawn alike."""

    def form(recipe: Recipe) -> str:
        whole = "i" if recipe.generator == "integers" else ""
        return whole + "x".join(map(str, recipe.shape or ()))

    forms = ",".join(form(recipe) for recipe in case.inputs.values() if recipe.is_array)
    return f"{origin.name}~{forms}"
