"""Carry out the checks of a question on a submission, and say what they come to."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from grader.model.report import CheckResult
from grader.model.verdict import Verdict
from grader.sandbox.client import WorkerClient
from grader.sandbox.deadline import OutOfTime

if TYPE_CHECKING:
    from grader.bench.bench import Bench
    from grader.model.spec import Check

GOOD_ENOUGH = frozenset({Verdict.PASS, Verdict.INCONCLUSIVE})  # too close to call blocks none


def carry_out(bench: Bench, failing: Callable[[], None] = lambda: None) -> tuple[CheckResult, ...]:
    """Run the checks in order, but not those whose needs did not pass or whose process is gone.

    Args:
        bench: with the submission.
        failing: called whenever a check is not passed, before the next one is carried out.

    Raises:
        BankFault: the reference, the spec or an extension fails, or takes too long.
    """
    from grader.bench.tally import Stopped  # here: workers are starting meanwhile
    from grader.kinds import run_check

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
                result = run_check(bench, check)
            except Stopped as stop:
                result, gone = stop.result, check.id
            except OutOfTime:
                late = out_of_time(bench.submission.worker, decided=_decided(done.values()))
                result, gone = replace(result, verdict=Verdict.LIMIT, message=late), check.id
        done[check.id] = result
        if result.verdict not in {*GOOD_ENOUGH, Verdict.SKIPPED}:
            failing()
    return tuple(done.values())


def _decided(done: Iterable[CheckResult]) -> bool:
    """Whether a check that decides was tried and was not good enough."""
    fine = {*GOOD_ENOUGH, Verdict.SKIPPED}
    return any(check.verdict not in fine and not check.stretch for check in done)


def unmet(check: Check, done: Mapping[str, CheckResult]) -> str | None:
    """The first check that it needs and that was not good enough, if any."""
    return next((need for need in check.needed if done[need].verdict not in GOOD_ENOUGH), None)


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


def out_of_time(worker: WorkerClient, *, decided: bool = False) -> str:
    """The sentence on a submission that has not come to its end by the grade's deadline.

    Args:
        worker: the submission's.
        decided: whether the grade is already no pass: nobody's slowness takes that back.

    Raises:
        BankFault: it is not, and the submission took less than half of the time.
    """
    from grader.bench.bench import BankFault

    assert worker.deadline is not None
    seconds = worker.deadline.seconds
    if worker.waited < seconds / 2:
        if decided:
            return f"the deadline came first: a whole grade may take {seconds:g} seconds"
        raise BankFault(
            f"a grade may take {seconds:g} seconds (deadline), and the submission took "
            f"{worker.waited:.3g} of them: the reference and the checks are too slow"
        )
    return (
        f"your code was still running at the deadline: a whole grade may take {seconds:g} seconds"
    )
