"""Carry out the checks of a question, in their order, as far as each is asked."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace

from grader import forms
from grader.grading.case_by_case import CaseFinding, SubmissionStopped
from grader.grading.check_order import CheckSchedule, first_blocking_failure, skipped_result
from grader.grading.evaluation import BankProgramError, Evaluation
from grader.grading.kinds import registry
from grader.grading.submission import missing_functions
from grader.model.report import NON_FAILING_VERDICTS, CheckResult, Clause, Verdict
from grader.model.spec import Check, Spec
from grader.sandbox import OutOfTime
from grader.sandbox.client import WorkerClient


def run_checks(
    evaluation: Evaluation,
    failing: Callable[[], None] = lambda: None,
    counting: Collection[int] | None = None,
    progress: Callable[[int, int], None] = lambda _done, _all: None,
) -> tuple[CheckResult, ...]:
    """Carry out the checks, but not those whose needs did not pass or whose process is gone.

    A part is asked once those before it that count pass: `counting` has the numbers of these, all
    if not given.  `failing` is called whenever a check is not passed, before the next one is
    carried out; `progress` before each that is tried, with its number and how many there are.  The
    results are in the order of the question.

    Raises:
        BankFault: the reference or the spec fails, or takes too long.
    """
    spec = evaluation.question.spec
    counting = range(1, len(spec.parts) + 1) if counting is None else counting
    schedule = CheckSchedule(spec, counting)
    gone: str | None = None
    unwritten: dict[str, str] = {}  # by sentence on what is not written, the first check with it
    for part, check in schedule.order:
        result = schedule.result_if_skipped(part, check)
        evaluation.parts_asked = schedule.last_asked_part
        is_asked = part <= schedule.last_asked_part
        if gone is not None and is_asked and (result is None or result.blocked_by == gone):
            result = skipped_result(part, check, gone, f"the process was stopped in {gone}")
        lacking = _lacking(evaluation, part, check)
        if result is None and lacking and _calls_what_is_missing(evaluation, check):
            result = _stopping(check, lacking.verdict, lacking.sentence)
        kind, left_out = (
            registry.kind_named(check.kind),
            check.stretch and not evaluation.measures_stretch,
        )
        if (
            result is None and left_out and not kind.is_timed
        ):  # a race tries inputs that nobody knows
            result = _stopping(check, Verdict.SKIPPED, "not measured")
        if result is None:
            progress(len(schedule.results_so_far) + 1, len(spec.checks))
            try:
                result = kind.run_check(evaluation, check)
            except SubmissionStopped as stop:
                result, gone = stop.result, check.id
            except OutOfTime:
                done = schedule.results_so_far.values()
                decided = any(c.verdict not in NON_FAILING_VERDICTS and not c.stretch for c in done)
                late = deadline_note(evaluation.submission.worker, decided=decided)
                result, gone = _stopping(check, Verdict.LIMIT, late), check.id
        if lacking is not None and result.verdict not in NON_FAILING_VERDICTS:
            # What is not written yet is all that is said of it, though it may be wrong in more.
            first = unwritten.setdefault(lacking.sentence, check.id)
            result = skipped_result(part, check, first, f"needs {first}")
            if first == check.id:
                result = _stopping(check, lacking.verdict, lacking.sentence)
        worked = any(c.verdict is Verdict.PASS for c in schedule.results_so_far.values())
        clauses, estimate = _broken(spec, check, result, worked=worked), _of_estimate(spec, check)
        schedule.results_so_far[check.id] = replace(
            result, part=part, clauses=clauses, estimate=estimate
        )
        if result.verdict not in NON_FAILING_VERDICTS:
            failing()
    return tuple(schedule.results_so_far[check.id] for check in spec.checks)


def missing_functions_note(
    evaluation: Evaluation, checks: Collection[CheckResult], counting: Collection[int]
) -> str:
    """Return the sentence on what the program does not define yet, if that is why it fails."""
    root = first_blocking_failure({check.id: check for check in checks}, counting)
    if root is None or forms.form_of(evaluation.question.spec).is_text:
        return ""
    check = next(one for one in evaluation.question.spec.checks if one.id == root.id)
    lacking = _lacking(evaluation, root.part, check)
    return lacking.sentence if lacking and lacking.sentence == root.message else ""


def _lacking(evaluation: Evaluation, part: int, check: Check) -> CaseFinding | None:
    """Return what a program lacks of what the part of a check asks for; of answers, its own."""
    question, submission = evaluation.question, evaluation.submission
    loaded = submission.loaded
    if loaded is None or not (loaded.missing or loaded.stubs or loaded.uncallable):
        return None
    names = question.signatures_for_part(part)
    if forms.form_of(question.spec).is_text:
        names = {name: name for name in question.functions_called_by_runs({check.run})}
    return missing_functions(loaded, names, question, submission.filename)


def _calls_what_is_missing(evaluation: Evaluation, check: Check) -> bool:
    """Return True if a step of a check's run calls what the file does not define."""
    loaded, question = evaluation.submission.loaded, evaluation.question
    called = question.functions_called_by_runs({check.run})
    return loaded is not None and not {*loaded.missing, *dict(loaded.uncallable)}.isdisjoint(called)


def _of_estimate(spec: Spec, check: Check) -> bool:
    """Whether a check, or one that it needs, is of an estimate."""
    needed = (one for one in spec.checks if one.id in check.needs)
    hides = (
        registry.kind_named(check.kind).hides_expected and not forms.form_of(spec).shows_expected
    )
    return hides or any(_of_estimate(spec, one) for one in needed)


def _broken(spec: Spec, check: Check, result: CheckResult, *, worked: bool) -> tuple[Clause, ...]:
    """The clauses that a result breaks.

    An exception says so only of code that works otherwise: a misspelled name breaks no clause in
    particular, an empty batch that raises does.  Nor does an effect: no program may have one.
    """
    breaks = result.verdict is Verdict.FAIL or (result.raised is not None and worked)
    if result.effect or not breaks:
        return ()
    return tuple(Clause(n, " ".join(spec.contract[n - 1].split())) for n in check.clause)


def _stopping(check: Check, verdict: Verdict, message: str) -> CheckResult:
    return CheckResult(check.id, check.kind, verdict, message, stretch=check.stretch)


def deadline_note(worker: WorkerClient, *, decided: bool = False) -> str:
    """The sentence on a submission, by its worker, that did not finish by the grade's deadline.

    `decided`: the grade is no pass already, and nobody's slowness takes that back.

    Raises:
        BankFault: it is not, and the submission took less than half of the time.
    """
    assert worker.deadline is not None
    seconds = worker.deadline.seconds
    allowed = f"a whole grade may take {seconds:g} seconds"
    if worker.seconds_waited < seconds / 2:
        if decided:
            return f"the deadline came first: {allowed}"
        raise BankProgramError(
            f"a grade may take {seconds:g} seconds (deadline), and the submission took "
            f"{worker.seconds_waited:.3g} of them: the reference and the checks are too slow"
        )
    at = f", stopped in {worker.stopped_at}" if worker.stopped_at else ""
    return f"your code was still running at the deadline{at}: {allowed}"
