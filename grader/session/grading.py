"""Carry out the checks of a question on a submission, and say what they come to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from grader import kinds
from grader.bench.bench import BankFault, Bench
from grader.bench.tally import Stopped
from grader.model.report import CheckResult
from grader.model.spec import Check
from grader.model.verdict import FINE, Verdict
from grader.sandbox.client import WorkerClient
from grader.sandbox.deadline import OutOfTime

GOOD_ENOUGH = FINE - {Verdict.SKIPPED}  # for a check that needs another


def carry_out(bench: Bench) -> tuple[CheckResult, ...]:
    """Run the checks in order, but not those whose needs did not pass or whose process is gone.

    Raises:
        BankFault: the reference, the spec or an extension fails, or takes too long.
    """
    done: dict[str, CheckResult] = {}
    gone: str | None = None
    for check in bench.question.spec.checks:
        result = CheckResult(check.id, check.kind, Verdict.SKIPPED, "", stretch=check.stretch)
        blocking = unmet(check, done) or gone
        if blocking is not None:
            reason = "the process was stopped in" if gone == blocking else "needs"
            result = replace(result, message=f"{reason} {blocking}", blocked_by=blocking)
        else:
            try:
                result = kinds.run_check(bench, check)
            except Stopped as stop:
                result, gone = stop.result, check.id
            except OutOfTime:
                decided = any(c.verdict not in FINE and not c.stretch for c in done.values())
                late = out_of_time(bench.submission.worker, decided=decided)
                result, gone = replace(result, verdict=Verdict.LIMIT, message=late), check.id
        done[check.id] = result
    return tuple(done.values())


def unmet(check: Check, done: Mapping[str, CheckResult]) -> str | None:
    """The first check that it needs and that was not good enough, if any."""
    return next((need for need in check.needed if done[need].verdict not in GOOD_ENOUGH), None)


def overall(checks: Sequence[CheckResult]) -> Verdict:
    """The verdict of all checks that decide: the first that is neither a pass nor open."""
    by_id = {check.id: check for check in checks}
    for check in checks:
        root = check
        while root.verdict is Verdict.SKIPPED and root.blocked_by in by_id:
            root = by_id[root.blocked_by]  # what was never tried is no better than what stopped it
        if not check.stretch and root.verdict not in FINE:
            return root.verdict
    return Verdict.PASS


def out_of_time(worker: WorkerClient, *, decided: bool = False) -> str:
    """The sentence on a submission that has not come to its end by the grade's deadline.

    Args:
        worker: the submission's.
        decided: whether the grade is already no pass: nobody's slowness takes that back.

    Raises:
        BankFault: it is not, and the submission took less than half of the time.
    """
    assert worker.deadline is not None
    seconds = worker.deadline.seconds
    allowed = f"a whole grade may take {seconds:g} seconds"
    if worker.waited < seconds / 2:
        if decided:
            return f"the deadline came first: {allowed}"
        raise BankFault(
            f"a grade may take {seconds:g} seconds (deadline), and the submission took "
            f"{worker.waited:.3g} of them: the reference and the checks are too slow"
        )
    return f"your code was still running at the deadline: {allowed}"
