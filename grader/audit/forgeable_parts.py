"""Find parts that a wrong program can pass with results that are known in advance.

A *driver* is code of the question that calls the submission, in the same process.  So a submission
can bypass the driver and return results that were recorded in an earlier grade.  The audit plays
such a submission: it takes a wrong program, and gives it the right value of each result for which
the reference computes the same on another seed.  Then every check runs again.  All checks of a run
see the same results on a case.
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
from grader.grading.kinds.base import WrittenAnswerKind
from grader.grading.kinds.registry import kind_of
from grader.grading.values import same_value
from grader.model.question import Question
from grader.model.spec import Check
from grader.sandbox.client import WorkerError
from grader.sandbox.messages import Outcome, ProgramError
from grader.sandbox.remote_program import RemoteProgram

ResultValues = Mapping[str, Any]  # by name
SEED_OFFSET = 1_000_003  # from the graded seed to that of the recorded results


def is_forgeable(question: Question) -> bool:
    """Return True if a submission is code that shares one process with the driver."""
    form = forms.form_of(question.spec)
    return not (form.is_text or form.runs_in_two_processes)


def comparing_checks(question: Question, part: int) -> list[Check]:
    """Return the required checks of a part that compare values.

    An estimate without inputs is left out: the candidate types its answer, so it cannot be forged.
    """
    checks = []
    for check in _required_checks(question, part):
        kind = kind_of(check)
        has_inputs = run_inputs(question.runs[check.run]) or not kind.hides_expected
        if kind.judges_values and has_inputs:
            checks.append(check)
    return checks


def is_only_measured(question: Question, part: int) -> bool:
    """Return True if all required checks of a part measure something in the submission's process.

    Budgets and side effects are reported by that process, which can forge them.
    """
    kinds = [kind_of(check) for check in _required_checks(question, part)]
    return not any(kind.judges_values or isinstance(kind, WrittenAnswerKind) for kind in kinds)


def _required_checks(question: Question, part: int) -> list[Check]:
    return [check for check in question.spec.parts[part - 1].checks if not check.stretch]


def forgeable_parts(session: GradingSession, seed: int) -> Iterator[str]:
    """Yield a sentence on each part that a wrong program passes with values known in advance.

    If possible, the wrong program that is tried passes the earlier parts.  Also yield a sentence on
    each part without a required check of values: such a part can be forged, too.

    Raises:
        BankProgramError: the reference fails.
    """
    question = session.question
    if not is_forgeable(question):
        return
    for part in range(1, len(question.spec.parts) + 1):
        if is_only_measured(question, part):
            yield (
                f"no required check of part {part} compares values, so that the part rests on what "
                "the submission's process says of itself: add a check of results on drawn inputs"
            )
        reference = session.new_evaluation(session.bank.reference, seed)
        checks = [
            check
            for check in comparing_checks(question, part)
            if not _has_empty_inputs(reference, check)
        ]
        if checks and _passes_with_known_values(session, seed, part, checks):
            compared = ", ".join(check.id for check in checks)
            yield (
                f"part {part} is passed with values that are known in advance: let what one of its "
                f"checks ({compared}) compares change with the seed; if there are many right "
                "answers, return what was computed, and judge it in a step of judge"
            )


def _has_empty_inputs(evaluation: Evaluation, check: Check) -> bool:
    """Return True if all inputs of a check are empty arrays, which are the same for every seed."""
    inputs_by_case = [evaluation.drawn_inputs(case) for case in evaluation.cases_of(check)]
    names = run_inputs(evaluation.steps(check.run))
    sizes = [np.size(inputs[name]) for inputs in inputs_by_case for name in names]
    return bool(sizes) and not any(sizes)


def _passes_with_known_values(
    session: GradingSession, seed: int, part: int, checks: Sequence[Check]
) -> bool:
    """Return True if a wrong program passes these checks once it returns known results.

    Known results are those of the reference on another seed.  Return False if the program passes
    with its own results: then it is not wrong.
    """
    wrong_program = _failing_program(session, seed, part, checks)
    results = (result_of_check(wrong_program, check) for check in checks)
    if all(not result.fails for result in results):
        return False  # its values are right: only measured quantities are wrong
    recorded = session.new_evaluation(session.bank.reference, seed + SEED_OFFSET)
    recorded.parts_asked = part
    runs = dict.fromkeys(check.run for check in checks)
    return all(
        _is_forged(wrong_program, recorded, [check for check in checks if check.run == run])
        for run in runs
    )


def _failing_program(
    session: GradingSession, seed: int, part: int, checks: Sequence[Check]
) -> Evaluation:
    """Return the evaluation of a program that should fail these checks.

    It is the starter with the repairs of the earlier parts.  For part 1, without a repair, or if
    the repaired starter passes, it is the starter as it stands.
    """
    question = session.question
    earlier = part - 1
    if earlier and question.repair:
        repaired = session.evaluate_bank_program(
            "known", [repaired_starter(question, earlier)], seed, parts=earlier
        )
        results = (result_of_check(repaired, check) for check in checks)
        if any(result.fails for result in results):
            return repaired
    starter = session.evaluate_bank_program("known", [question.starter], seed, parts=1)
    starter.parts_asked = part
    return starter


def _is_forged(evaluation: Evaluation, recorded: Evaluation, checks: Sequence[Check]) -> bool:
    """Return True if every case of a run passes with recorded or with corrected results.

    The corrected ones are the wrong program's own, changed by `_corrected_results`.

    Args:
        evaluation: evaluation of a wrong program.
        recorded: evaluation of the reference on another seed.
        checks: the checks of one run, at least one.
    """
    run = checks[0].run
    failing = {case.name for check in checks for case in evaluation.cases_of(check)}
    cases = [evaluation.cases[name] for name in sorted(failing)]
    recorded_results = {
        case.name: _own_results(recorded, recorded.reference, run, case) for case in cases
    }
    corrected_results = {
        case.name: _corrected_results(evaluation, run, case, recorded_results[case.name])
        for case in cases
    }
    for results in (recorded_results, corrected_results):
        failing &= _failing_cases(evaluation, checks, results)
    return not failing


def _failing_cases(
    evaluation: Evaluation, checks: Sequence[Check], results_by_case: Mapping[str, ResultValues]
) -> set[str]:
    """Return the cases on which one of the checks fails if a program gives these results."""
    run = checks[0].run
    forged = evaluation.with_subject(evaluation.subject)
    for name, results in results_by_case.items():
        case = evaluation.cases[name]
        compared = _judged_results(evaluation, run, case, results)
        forged.override_outcome(run, case, Outcome(dict(compared)))

    failing = set[str]()
    for check in checks:
        all_cases = [case.name for case in forged.cases_of(check)]
        try:
            result = kind_of(check).run_check(forged, check)
        except SubmissionStopped:
            failing.update(all_cases)
            continue
        if result.fails:
            failing.update(result.failing or all_cases)
    return failing


def _judged_elsewhere(evaluation: Evaluation) -> RemoteProgram:
    """Return the reference, with its steps `judge.NAME(...)` apart, as those of a submission."""
    return replace(evaluation.reference, judge_program=lambda: evaluation.reference)


def _own_results(
    evaluation: Evaluation, program: RemoteProgram, run: str, case: CaseRecipe
) -> ResultValues:
    """Return the results that a program computes in its own process, before steps of judge.

    Raises:
        ProgramError, WorkerError: the program fails.
    """
    own_steps, judge_steps, own_names = _judged_elsewhere(evaluation).split_steps(
        evaluation.steps(run), evaluation.wanted_results[run]
    )
    if not judge_steps:
        return evaluation.outcome(program, run, case).values
    return program.run(own_steps, evaluation.inputs(case, run), own_names).values


def _judged_results(
    evaluation: Evaluation, run: str, case: CaseRecipe, own_results: ResultValues
) -> ResultValues:
    """Return the results that a check compares: a program's own, after the steps of judge.

    If a step of judge raises, there are no results.
    """
    program = _judged_elsewhere(evaluation)
    names = evaluation.wanted_results[run]
    _, judge_steps, _ = program.split_steps(evaluation.steps(run), names)
    if not judge_steps:
        return own_results
    try:
        inputs = evaluation.inputs(case, run)
        return program.run_judge_steps(
            judge_steps, inputs, Outcome(dict(own_results)), names
        ).values
    except ProgramError:
        return {}


def _corrected_results(
    evaluation: Evaluation, run: str, case: CaseRecipe, recorded: ResultValues
) -> dict[str, Any]:
    """Return a wrong program's results, with the right value where the recorded one is right.

    The reference has computed the recorded results on another seed.
    """
    results = dict[str, Any]()
    with contextlib.suppress(ProgramError, WorkerError):  # it may lack a function
        results = dict(_own_results(evaluation, evaluation.subject, run, case))
    recorded_outcome = Outcome(dict(recorded))
    right_results = _own_results(evaluation, evaluation.reference, run, case)
    for name, right in right_results.items():
        is_compared = name in recorded and name in evaluation.wanted_results[run]
        if is_compared and find_mismatch(evaluation, run, case, name, recorded_outcome) is None:
            results[name] = right
        else:
            results[name] = _corrected_value(results.get(name), right, recorded.get(name))
    return results


def _corrected_value(wrong: Any, right: Any, recorded: Any) -> Any:  # noqa: ANN401 any results
    """Return a wrong value, corrected in the entries in which right and recorded agree.

    Wrong [0, 0], right [1, 2] and recorded [1, 3] give [1, 0].
    """
    if same_value(right, recorded, exact=True):
        return right
    values = (wrong, right, recorded)
    if all(isinstance(value, (list, tuple)) for value in values):
        if len({len(value) for value in values}) == 1:
            entries = zip(*values, strict=True)
            return type(right)([_corrected_value(*entry) for entry in entries])
    elif all(isinstance(value, dict) for value in values):
        if len({frozenset(value) for value in values}) == 1:
            return {key: _corrected_value(wrong[key], right[key], recorded[key]) for key in right}
    return wrong
