"""Carry out the checks of a question on a submission, and say what they come to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from grader.model.report import CheckResult
from grader.model.verdict import Verdict
from grader.sandbox.client import WorkerClient
from grader.sandbox.deadline import OutOfTime
from grader.session.needs import unmet

if TYPE_CHECKING:
    from grader.bench.bench import Bench


def carry_out(bench: Bench) -> tuple[CheckResult, ...]:
    """Run the checks in order, but not those whose needs did not pass or whose process is gone.

    Raises:
        BankFault: the reference, the spec or an extension fails, or takes too long.
    """
    from grader.bench.tally import Stopped
    from grader.kinds import run_check

    done: dict[str, CheckResult] = {}
    gone: str | None = None
    for check in bench.question.spec.checks:
        blocking = unmet(check, done) or gone
        if blocking is not None:
            reason = "the process was stopped in" if gone == blocking else "needs"
            done[check.id] = CheckResult(
                id=check.id,
                kind=check.kind,
                verdict=Verdict.SKIPPED,
                message=f"{reason} {blocking}",
                stretch=check.stretch,
                blocked_by=blocking,
            )
            continue
        try:
            done[check.id] = run_check(bench, check)
        except Stopped as stop:
            done[check.id] = stop.result
            gone = check.id
        except OutOfTime:
            late = out_of_time(bench.submission.worker)
            done[check.id] = CheckResult(
                check.id, check.kind, Verdict.LIMIT, late, stretch=check.stretch
            )
            gone = check.id
    return tuple(done.values())


def overall(checks: Sequence[CheckResult]) -> Verdict:
    """The verdict of all checks that decide: the first that is neither a pass nor open."""
    fine = {Verdict.PASS, Verdict.INCONCLUSIVE, Verdict.SKIPPED}
    by_id = {check.id: check for check in checks}
    for check in checks:
        root = check
        while root.verdict is Verdict.SKIPPED and root.blocked_by in by_id:
            root = by_id[root.blocked_by]  # what was never tried is no better than what stopped it
        if not check.stretch and root.verdict not in fine:
            return root.verdict
    return Verdict.PASS


def out_of_time(worker: WorkerClient) -> str:
    """The sentence on a submission that has not come to its end by the grade's deadline.

    Raises:
        BankFault: the submission took less than half of the time.
    """
    from grader.bench.bench import BankFault

    assert worker.deadline is not None
    seconds = worker.deadline.seconds
    if worker.waited < seconds / 2:
        raise BankFault(
            f"a grade may take {seconds:g} seconds (deadline), and the submission took "
            f"{worker.waited:.3g} of them: the reference and the checks are too slow"
        )
    return (
        f"your code was still running at the deadline: a whole grade may take {seconds:g} seconds"
    )
