"""Parts that a wrong program passes once it knows what can be known in advance.

A driver runs in the process of the submission, which can replace it by what it returned in another
grade.  The audit plays that submission: wherever the results of another seed are right on this
one, a wrong program is given the right ones, and every check looks again.  A program gives one
answer to a run on a case, which all checks look at.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from grader import forms
from grader.audit.kill_matrix import result_of_check
from grader.bank.starter_repair import repaired_starter
from grader.cases.recipe import CaseRecipe, run_inputs
from grader.explain.session import GradingSession
from grader.grading.case_by_case import SubmissionStopped
from grader.grading.compare import find_mismatch
from grader.grading.evaluation import Evaluation
from grader.grading.kinds import registry
from grader.grading.kinds.base import WrittenAnswerKind
from grader.grading.values import same_value
from grader.model.question import Question
from grader.model.report import NON_FAILING_VERDICTS
from grader.model.spec import Check
from grader.sandbox.client import WorkerError
from grader.sandbox.messages import Outcome, ProgramError
from grader.sandbox.remote_program import RemoteProgram

ResultValues = Mapping[str, Any]  # by name
SEED_OFFSET = 1_000_003  # is added to a seed: values are known from the grade of that one


def is_forgeable(question: Question) -> bool:
    """Return True if a submission shares its process with the driver."""
    form = forms.form_of(question.spec)
    return not (form.is_text or form.runs_in_two_processes)


def comparing_checks(question: Question, part: int) -> list[Check]:
    """Return the required checks of a part that compare values.

    An estimate without inputs is left out: its answer is what is asked for, and can be typed.
    """
    found = []
    for check in _required(question, part):
        kind = registry.kind_named(check.kind)
        has_inputs = run_inputs(question.runs[check.run]) or not kind.hides_expected
        if kind.judges_values and has_inputs:
            found.append(check)
    return found


def is_only_measured(question: Question, part: int) -> bool:
    """Return True if all required checks of a part measure something in the submission's process.

    Budgets and side effects are reported by that process, which can forge them.
    """
    kinds = [registry.kind_named(check.kind) for check in _required(question, part)]
    return not any(kind.judges_values or isinstance(kind, WrittenAnswerKind) for kind in kinds)


def _required(question: Question, part: int) -> list[Check]:
    return [check for check in question.spec.parts[part - 1].checks if not check.stretch]


def forgeable_parts(session: GradingSession, seed: int) -> Iterator[str]:
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
        right = session.bank.new_evaluation(session.bank.reference, seed)
        checks = [one for one in comparing_checks(question, part) if not _is_empty(right, one)]
        if not checks:
            continue
        program = _failing_program(session, seed, part, checks)
        if all(result_of_check(program, check).verdict in NON_FAILING_VERDICTS for check in checks):
            continue  # its values are right: the part is about what is measured
        recorded = session.bank.new_evaluation(session.bank.reference, seed + SEED_OFFSET)
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
    drawn = [evaluation.drawn_inputs(case) for case in evaluation.cases_of(check)]
    names = run_inputs(evaluation.steps(check.run))
    sizes = [np.size(given[name]) for given in drawn for name in names]
    return bool(sizes) and not any(sizes)


def _failing_program(
    session: GradingSession, seed: int, part: int, checks: Sequence[Check]
) -> Evaluation:
    """Return the evaluation of a program that fails a part, and passes those before if possible."""
    question, before = session.question, part - 1
    if before and question.repair:
        parted = session.evaluate_bank_program(
            "known", [repaired_starter(question, before)], seed, parts=before
        )
        if any(
            result_of_check(parted, check).verdict not in NON_FAILING_VERDICTS for check in checks
        ):
            return parted
    starter = session.evaluate_bank_program("known", [question.starter], seed, parts=1)
    starter.parts_asked = part
    return starter


def _is_forged(evaluation: Evaluation, recorded: Evaluation, checks: Sequence[Check]) -> bool:
    """Return True if every case of a run passes with recorded results, or with corrected ones.

    Args:
        evaluation: of a wrong program.
        recorded: of the reference, on another seed.
        checks: of the run.
    """
    run = checks[0].run
    failing = {case.name for check in checks for case in evaluation.cases_of(check)}
    cases = [evaluation.cases[name] for name in sorted(failing)]
    known = {case.name: _results(recorded, recorded.reference, run, case) for case in cases}
    mine = {case.name: _corrected(evaluation, run, case, known[case.name]) for case in cases}
    for results in (known, mine):
        failing &= _failing(evaluation, checks, results)
    return not failing


def _failing(
    evaluation: Evaluation, checks: Sequence[Check], results: Mapping[str, ResultValues]
) -> set[str]:
    """Return the cases on which a check of a run does not pass results that are given by case."""
    forged = evaluation.with_submission(evaluation.submission)
    for name, given in results.items():
        case = evaluation.cases[name]
        judged = _judged(evaluation, checks[0].run, case, given)
        forged.plant_outcome(checks[0].run, case, Outcome(dict(judged)))
    failing = set[str]()
    for check in checks:
        every = [case.name for case in forged.cases_of(check)]
        try:
            result = registry.kind_named(check.kind).run_check(forged, check)
        except SubmissionStopped:
            failing |= {*every}
            continue
        if result.verdict not in NON_FAILING_VERDICTS:
            failing |= {*(result.failing or every)}
    return failing


def _apart(evaluation: Evaluation) -> RemoteProgram:
    """Return the reference as a submission, whose results another process judges."""
    return replace(evaluation.reference, judge_program=lambda: evaluation.reference)


def _results(
    evaluation: Evaluation, program: RemoteProgram, run: str, case: CaseRecipe
) -> ResultValues:
    """Return what a program gives in its own process.

    Raises:
        ProgramError, WorkerError: it does not.
    """
    steps, want = evaluation.steps(run), evaluation.wanted_results[run]
    own, judged, asked = _apart(evaluation).split_steps(steps, want)
    if not judged:
        return evaluation.outcome(program, run, case).values
    return program.run(own, evaluation.inputs(case, run), asked).values


def _judged(
    evaluation: Evaluation, run: str, case: CaseRecipe, given: ResultValues
) -> ResultValues:
    """Return the results that a check compares, some of them judged by steps of judge."""
    apart, want = _apart(evaluation), evaluation.wanted_results[run]
    _, judged, _ = apart.split_steps(evaluation.steps(run), want)
    if not judged:
        return given
    try:
        inputs = evaluation.inputs(case, run)
        return apart.run_judge_steps(judged, inputs, Outcome(dict(given)), want).values
    except ProgramError:
        return {}


def _corrected(
    evaluation: Evaluation, run: str, case: CaseRecipe, known: ResultValues
) -> dict[str, Any]:
    """Return the program's results, corrected wherever those of the other seed are right."""
    mine = dict[str, Any]()
    with contextlib.suppress(ProgramError, WorkerError):  # it may not define what is called
        mine = dict(_results(evaluation, evaluation.submission, run, case))
    recorded = Outcome(dict(known))
    for name, right in _results(evaluation, evaluation.reference, run, case).items():
        is_compared = name in known and name in evaluation.wanted_results[run]
        if is_compared and find_mismatch(evaluation, run, case, name, recorded) is None:
            mine[name] = right
        else:
            mine[name] = _mixed(mine.get(name), right, known.get(name))
    return mine


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
