"""Parts that a wrong program passes once it knows what can be known in advance.

A driver runs in the process of the submission, which can replace it by what it returned in another
grade.  The audit plays that submission: wherever the results of another seed are right on this
one, a wrong program is given the right ones, and every check looks again.  A program gives one
answer to a run on a case, which all checks look at.
"""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from grader import forms
from grader.audit.matrix import result_of
from grader.bank.repair import repaired
from grader.cases.recipe import CaseRecipe, free_names
from grader.evaluation.compare import fault_of
from grader.evaluation.evaluation import Evaluation
from grader.evaluation.tally import Stopped
from grader.evaluation.values import same_value
from grader.kinds import registry
from grader.kinds.base import Written
from grader.model.question import Question
from grader.model.report import FINE
from grader.model.spec import Check
from grader.sandbox.client import WorkerError
from grader.sandbox.messages import Outcome, ProgramError
from grader.sandbox.remote import RemoteProgram
from grader.session import GradingSession

Results = Mapping[str, Any]  # by name
OTHER = 1_000_003  # is added to a seed: values are known from the grade of that one


def is_forgeable(question: Question) -> bool:
    """Return True if a submission shares its process with the driver."""
    form = forms.of(question.spec)
    return not (form.is_text or form.apart)


def comparing(question: Question, part: int) -> list[Check]:
    """Return the required checks of a part that compare values.

    An estimate without inputs is left out: its answer is what is asked for, and can be typed.
    """
    return [
        check
        for check in question.spec.parts[part - 1].checks
        if not check.stretch and registry.get(check.kind).judges_values
        and (free_names(question.runs[check.run]) or not registry.get(check.kind).hides_expected)
    ]  # fmt: skip


def is_only_measured(question: Question, part: int) -> bool:
    """Return True if all required checks of a part measure something in the submission's process.

    Budgets and side effects are reported by that process, which can forge them.
    """
    required = [c for c in question.spec.parts[part - 1].checks if not c.stretch]
    kinds = [registry.get(check.kind) for check in required]
    return not any(kind.judges_values or isinstance(kind, Written) for kind in kinds)


def faults(session: GradingSession, seed: int) -> Iterator[str]:
    """Say which parts are passed by whoever passes those before and knows what can be known.

    Raises:
        BankFault: the reference fails.
    """
    question = session.question
    for part in range(1, len(question.spec.parts) + 1) if is_forgeable(question) else ():
        if is_only_measured(question, part):
            yield (
                f"no required check of part {part} compares values, so that the part rests on what "
                "the submission's process says of itself: add a check of results on drawn inputs"
            )
        right = session.bank.evaluation(session.bank.reference, seed)
        checks = [one for one in comparing(question, part) if not _is_empty(right, one)]
        if not checks:
            continue
        program = _failing_program(session, seed, part, checks)
        if all(result_of(program, check).verdict in FINE for check in checks):
            continue  # its values are right: the part is about what is measured
        recorded = session.bank.evaluation(session.bank.reference, seed + OTHER)
        recorded.parts_asked = part
        runs = dict.fromkeys(check.run for check in checks)
        if all(_is_forged(program, recorded, [c for c in checks if c.run == run]) for run in runs):
            compared = ", ".join(check.id for check in checks)
            yield (
                f"part {part} is passed with values that are known in advance: let what one of its "
                f"checks ({compared}) compares change with the seed; if there are many right "
                "answers, return what was computed, and judge it in a step of judge"
            )


def _is_empty(evaluation: Evaluation, check: Check) -> bool:
    """Return True if the inputs of a check are arrays without entries: there are no others."""
    names = free_names(evaluation.steps(check.run))
    values = [
        value
        for case in evaluation.cases_of(check)
        for name, value in evaluation.drawn(case).items()
        if name in names
    ]
    return bool(values) and not any(np.size(value) for value in values)


def _failing_program(
    session: GradingSession, seed: int, part: int, checks: Sequence[Check]
) -> Evaluation:
    """Return the evaluation of a program that fails a part, and passes those before if possible."""
    question, before = session.question, part - 1
    if before and question.repair:
        parted = session.examine("known", [repaired(question, before)], seed, parts=before)
        if any(result_of(parted, check).verdict not in FINE for check in checks):
            return parted
    starter = session.examine("known", [question.starter], seed, parts=1)
    starter.parts_asked = part
    return starter


def _is_forged(evaluation: Evaluation, recorded: Evaluation, checks: Sequence[Check]) -> bool:
    """Return True if every case of a run passes with recorded results, or with corrected ones.

    Args:
        evaluation: of a wrong program.
        recorded: of the reference, on another seed.
        checks: of the run.
    """
    replayed, corrected = dict[str, Results](), dict[str, Results]()
    cases = {case.name: case for check in checks for case in evaluation.cases_of(check)}
    for name, case in cases.items():
        known = _results(recorded, recorded.reference, checks[0].run, case)
        replayed[name] = _judged(evaluation, checks[0].run, case, known)
        mine = _corrected(evaluation, checks[0].run, case, known)
        corrected[name] = _judged(evaluation, checks[0].run, case, mine)
    failing = {*cases}
    for planted in (replayed, corrected):
        failing &= {name for check in checks for name in _failing(evaluation, check, planted)}
    return not failing


def _failing(
    evaluation: Evaluation, check: Check, planted: Mapping[str, Results]
) -> Collection[str]:
    """Return the cases on which a check does not pass results that are given by case."""
    forged = evaluation.with_submission(evaluation.submission)
    cases = [case.name for case in forged.cases_of(check)]
    for name in cases:
        forged.plant(check.run, forged.cases[name], Outcome(dict(planted[name])))
    try:
        result = registry.get(check.kind).carry_out(forged, check)
    except Stopped:
        return cases
    return () if result.verdict in FINE else result.failing or cases


def _apart(evaluation: Evaluation, program: RemoteProgram) -> RemoteProgram:
    """Return the program as a submission, of which the reference's process judges the results."""
    return replace(program, judging=lambda: evaluation.reference)


def _results(evaluation: Evaluation, program: RemoteProgram, run: str, case: CaseRecipe) -> Results:
    """Return what a program gives in its own process.

    Raises:
        ProgramError, WorkerError: it does not.
    """
    apart, want = _apart(evaluation, program), evaluation.wanted[run]
    own, judged, asked = apart.shared_out(evaluation.steps(run), want)
    if not judged:
        return evaluation.outcome(program, run, case).values
    return evaluation.remember(
        ("own results", run, case.name, asked),
        lambda: apart.run(own, evaluation.inputs(case, run), asked),
        program,
    ).values


def _judged(evaluation: Evaluation, run: str, case: CaseRecipe, given: Results) -> Results:
    """Return the results that a check compares, some of them judged by steps of judge."""
    apart, want = _apart(evaluation, evaluation.reference), evaluation.wanted[run]
    _, judged, _ = apart.shared_out(evaluation.steps(run), want)
    if not judged:
        return given
    try:
        inputs = evaluation.inputs(case, run)
        return apart.judge(judged, inputs, Outcome(dict(given)), want).values
    except ProgramError:
        return {}


def _corrected(
    evaluation: Evaluation, run: str, case: CaseRecipe, known: Results
) -> dict[str, Any]:
    """Return the program's results, corrected wherever those of the other seed are right."""
    mine = dict[str, Any]()
    with contextlib.suppress(ProgramError, WorkerError):  # it may not define what is called
        mine = dict(_results(evaluation, evaluation.submission, run, case))
    for name, right in _results(evaluation, evaluation.reference, run, case).items():
        if name in evaluation.wanted[run] and _agrees(evaluation, run, case, name, known):
            mine[name] = right
        else:
            mine[name] = _mixed(mine.get(name), right, known.get(name))
    return mine


def _agrees(evaluation: Evaluation, run: str, case: CaseRecipe, name: str, known: Results) -> bool:
    """Return True if a result of the other seed is right on this one."""
    fault = fault_of(evaluation, run, case, name, Outcome(dict(known)))
    return name in known and fault is None


def _mixed(mine: Any, right: Any, replayed: Any) -> Any:  # noqa: ANN401 any results
    """Return a result with the right value in each entry that is the same on both seeds."""
    if same_value(right, replayed, exact=True):
        return right
    every = (mine, right, replayed)
    if all(isinstance(one, (list, tuple)) for one in every) and len({*map(len, every)}) == 1:
        return type(right)([_mixed(*entries) for entries in zip(*every, strict=True)])
    if all(isinstance(one, dict) for one in every) and len({*map(frozenset, every)}) == 1:
        return {key: _mixed(mine[key], right[key], replayed[key]) for key in right}
    return mine
