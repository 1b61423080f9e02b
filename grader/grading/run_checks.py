"""Run the checks of a question; find out which cannot run, and which clauses a failure breaks."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace

from grader import forms
from grader.grading.bank_errors import BankProgramError
from grader.grading.case_by_case import SubmissionStopped
from grader.grading.check_order import CheckSchedule, first_blocking_failure, skipped_result
from grader.grading.evaluation import Evaluation
from grader.grading.kinds import registry
from grader.grading.submission import SubmissionProblem, missing_functions
from grader.model.report import NON_FAILING_VERDICTS, CheckResult, Clause, Verdict
from grader.model.spec import Check, Spec
from grader.sandbox import OutOfTime
from grader.sandbox.client import WorkerClient


def run_checks(
    evaluation: Evaluation,
    on_failure: Callable[[], None] = lambda: None,
    counted_parts: Collection[int] = (),
    progress: Callable[[int, int], None] = lambda _done, _all: None,
) -> tuple[CheckResult, ...]:
    """Run the checks unless they are skipped; return all results in the question's order.

    Args:
        evaluation: The submission, the reference and the cases.  `parts_asked` is updated.
        on_failure: Called after each check that fails.
        counted_parts: Numbers of the parts that must pass before the next part is asked
            (default: all).
        progress: Called before each check that runs, with its number and the number of checks.

    Raises:
        BankProgramError: The reference or the spec fails, or takes too long.
    """
    spec = evaluation.question.spec
    schedule = CheckSchedule(spec, counted_parts or range(1, len(spec.parts) + 1))
    results = schedule.results_so_far
    first_with_problem: dict[str, str] = {}  # check id, by the sentence on missing functions
    for part, check in schedule.order:
        result = schedule.result_if_skipped(part, check)
        evaluation.parts_asked = schedule.last_asked_part
        problem = _missing_functions_of_part(evaluation, part, check)
        if result is None:
            result = _result_without_running(evaluation, check, problem)
        if result is None:
            progress(len(results) + 1, len(spec.checks))
            try:
                result = registry.kind_named(check.kind).run_check(evaluation, check)
            except SubmissionStopped as stop:
                result = stop.result
                schedule.stopped_by = check.id
            except OutOfTime:
                result = _deadline_result(evaluation, check, results.values())
                schedule.stopped_by = check.id
        if problem is not None and result.verdict not in NON_FAILING_VERDICTS:
            # Only the missing functions are reported, once, though the code may have other faults.
            first = first_with_problem.setdefault(problem.sentence, check.id)
            result = _result(check, problem.verdict, problem.sentence)
            if first != check.id:
                result = skipped_result(part, check, first, f"needs {first}")
        results[check.id] = replace(
            result,
            part=part,
            clauses=_broken_clauses(spec, check, result, results.values()),
            estimate=_depends_on_estimate(spec, check),
        )
        if result.verdict not in NON_FAILING_VERDICTS:
            on_failure()
    return tuple(results[check.id] for check in spec.checks)


def missing_functions_note(
    evaluation: Evaluation, checks: Collection[CheckResult], counted_parts: Collection[int]
) -> str:
    """Return the sentence on missing functions if they are why the submission fails, else ""."""
    root = first_blocking_failure({check.id: check for check in checks}, counted_parts)
    spec = evaluation.question.spec
    if root is None or forms.form_of(spec).is_text:
        return ""
    (check,) = (check for check in spec.checks if check.id == root.id)
    problem = _missing_functions_of_part(evaluation, root.part, check)
    return problem.sentence if problem and problem.sentence == root.message else ""


def _missing_functions_of_part(
    evaluation: Evaluation, part: int, check: Check
) -> SubmissionProblem | None:
    """Return a problem if the file lacks functions that it must define by a check's part.

    In a file of answers only the functions that the check itself runs count.
    """
    question = evaluation.question
    submission = evaluation.subject
    loaded = submission.loaded
    if loaded is None or not (loaded.missing or loaded.stubs or loaded.uncallable):
        return None
    names = question.signatures_for_part(part)
    if forms.form_of(question.spec).is_text:
        names = {name: name for name in question.functions_called_by_runs({check.run})}
    return missing_functions(loaded, names, question, submission.filename)


def _result_without_running(
    evaluation: Evaluation, check: Check, problem: SubmissionProblem | None
) -> CheckResult | None:
    """Return a result if the check cannot run, or is not measured in this grade; else None."""
    if problem is not None and _calls_missing_function(evaluation, check):
        return _result(check, problem.verdict, problem.sentence)
    if check.stretch and not evaluation.measures_stretch:
        # A check of speed runs even so: results on its secret inputs have to be right.
        if not registry.kind_named(check.kind).is_timed:
            return _result(check, Verdict.SKIPPED, "not measured")
    return None


def _calls_missing_function(evaluation: Evaluation, check: Check) -> bool:
    """Return True if a step of the check's run calls a name that is missing or not a function."""
    loaded = evaluation.subject.loaded
    if loaded is None:
        return False
    called = evaluation.question.functions_called_by_runs({check.run})
    return not {*loaded.missing, *dict(loaded.uncallable)}.isdisjoint(called)


def _depends_on_estimate(spec: Spec, check: Check) -> bool:
    """Return True if a check, or one that it needs, asks for an estimate.

    Then reports do not show the right number.
    """
    kind = registry.kind_named(check.kind)
    if kind.hides_expected and not forms.form_of(spec).shows_expected:
        return True
    return any(_depends_on_estimate(spec, each) for each in spec.checks if each.id in check.needs)


def _broken_clauses(
    spec: Spec, check: Check, result: CheckResult, others: Collection[CheckResult]
) -> tuple[Clause, ...]:
    """Return the contract clauses that a failing result breaks.

    An exception breaks a clause only if an earlier check passes, so not if a name is misspelled.
    Side effects break none: they are forbidden everywhere.
    """
    is_broken = result.verdict is Verdict.FAIL
    if result.raised is not None:
        is_broken = is_broken or any(other.verdict is Verdict.PASS for other in others)
    if result.effect or not is_broken:
        return ()
    return tuple(
        Clause(number, " ".join(spec.contract[number - 1].split())) for number in check.clause
    )


def _result(check: Check, verdict: Verdict, message: str) -> CheckResult:
    return CheckResult(check.id, check.kind, verdict, message, stretch=check.stretch)


def _deadline_result(
    evaluation: Evaluation, check: Check, results: Collection[CheckResult]
) -> CheckResult:
    """Return the result of the check during which the grade's deadline passed."""
    is_failed = any(
        other.verdict not in NON_FAILING_VERDICTS and not other.stretch for other in results
    )
    note = deadline_note(evaluation.subject.worker, is_failed=is_failed)
    return _result(check, Verdict.LIMIT, note)


def deadline_note(worker: WorkerClient, *, is_failed: bool = False) -> str:
    """Return the sentence on a submission that did not finish by the grade's deadline.

    Args:
        worker: The submission's worker.
        is_failed: The submission fails anyway, so it does not matter who was slow.

    Raises:
        BankProgramError: The submission took less than half of the time and has not failed.
    """
    assert worker.deadline is not None
    seconds = worker.deadline.seconds
    rule = f"a whole grade may take {seconds:g} seconds"
    if worker.seconds_waited < seconds / 2:
        if is_failed:
            return f"the deadline came first: {rule}"
        raise BankProgramError(
            f"a grade may take {seconds:g} seconds (deadline), and the submission took "
            f"{worker.seconds_waited:.3g} of them: the reference and the checks are too slow"
        )
    place = f", stopped in {worker.stopped_at}" if worker.stopped_at else ""
    return f"your code was still running at the deadline{place}: {rule}"
