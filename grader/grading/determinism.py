"""Run a program again: does it remember calls, does it always compute the same?"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import replace

from grader.cases.recipe import CaseRecipe
from grader.grading.compare import find_mismatch
from grader.grading.evaluation import BankProgramError, Evaluation, blame_bank
from grader.grading.values import same_value
from grader.sandbox.messages import Outcome, ProgramError
from grader.sandbox.remote_program import RemoteProgram

RERUNS = 2  # of each kind: who draws numbers at random is wrong now and right then
MAX_REPLAYED_CALLS = 40  # of those before, that are made again
MAX_RERUN_NANOSECONDS = 500_000_000  # of CPU time: what takes longer is not looked into further
RunCall = tuple[str, CaseRecipe]  # of a run on a case


def rerun_in_fresh_module(evaluation: Evaluation, calls: Sequence[RunCall]) -> Outcome | None:
    """What the submission, loaded anew, computes in the last of these calls; None where it raises.

    What it has left outside of its own module is still there.

    Raises:
        WorkerError: its process did not survive it.
    """
    found = None
    program = replace(evaluation.submission, name=f"{evaluation.submission.name}, anew")
    try:
        program.load(())
    except ProgramError:
        return None
    for run, case in calls:
        try:
            with evaluation.limits_applied(case):
                program.limits = evaluation.submission.limits
                inputs = evaluation.inputs(case, run)
                found = program.run(evaluation.steps(run), inputs, evaluation.wanted_results[run])
        except ProgramError:
            found = None
    return found


def depends_on_earlier_calls(
    evaluation: Evaluation, run: str, case: CaseRecipe, results: Sequence[str] | None = None
) -> bool:
    """Whether the submission is wrong on a case only because something was called before.

    It is so where `results` (all that some check looks at, if not given) are right, and the same
    every time, with nothing called before, and wrong likewise after a call of the same case or
    after the calls that came before it in the grade.  Where finding out takes more than half a
    second of CPU time, the answer is no.

    Raises:
        WorkerError: the submission's process did not survive being asked again.
        BankFault: the reference fails on the case.
    """
    names = evaluation.wanted_results[run] if results is None else tuple(results)
    worker, call, called = evaluation.submission.worker, (run, case), evaluation.calls_made
    began = worker.cpu_nanoseconds() or 0

    def always(before: Sequence[RunCall], *, is_wrong: bool) -> bool:
        """Whether it is wrong, or right, and the same every time."""
        calls = (*before, call)
        first = rerun_in_fresh_module(evaluation, calls)
        wrong = first is None or any(find_mismatch(evaluation, run, case, n, first) for n in names)
        if wrong is not is_wrong:
            return False
        for _ in range(1, RERUNS):
            if (worker.cpu_nanoseconds() or 0) - began > MAX_RERUN_NANOSECONDS:
                return False
            if not _same(first, rerun_in_fresh_module(evaluation, calls), names):
                return False
        return True

    here = called.index(call) if call in called else len(called)
    histories = ([call], called[:here][-MAX_REPLAYED_CALLS:])
    return always((), is_wrong=False) and any(
        history and always(history, is_wrong=True) for history in histories
    )


def require_deterministic(
    evaluation: Evaluation, program: RemoteProgram, *, patience: float = math.inf
) -> None:
    """Run a right program once more on every case, and hold it against the reference.

    Chance in a reference would widen the band by itself, and verdicts would be luck.  The cases are
    taken in the other order, so that a program is caught too that counts its calls.

    The program is the reference itself, or another process's; after `patience` seconds no further
    case is tried.

    Raises:
        BankFault: a result differs by more than ways of rounding do, or the reference fails.
    """
    began = time.monotonic()
    fresh = evaluation.with_submission(replace(program))  # of which nothing is known
    every = [(c.run, case) for c in evaluation.checks for case in evaluation.cases_of(c)]
    for run in dict.fromkeys(run for run, _ in every):
        cases = {case.name: case for one, case in reversed(every) if one == run}.values()
        fresh.prefetch([fresh.submission], run, cases)
        for case in cases:
            if time.monotonic() - began > patience:
                return
            first = evaluation.reference_outcome(run, case)
            with blame_bank(f"the reference fails on case {case.name} again"):
                again = fresh.submission_outcome(run, case)
            for name in evaluation.wanted_results[run]:
                if not same_value(first.values[name], again.values.get(name), case.dtype):
                    driven = any(
                        step.owner in {"driver", "judge"} for step in evaluation.steps(run)
                    )
                    who = "the reference, or the driver," if driven else "the reference"
                    raise BankProgramError(
                        f"{who} is not deterministic: computed twice from the same inputs, {name} "
                        f"of case {case.name} is not the same; take the chance out of it"
                    )


def _same(one: Outcome | None, other: Outcome | None, names: Sequence[str]) -> bool:
    """Whether two runs came to the very same results."""
    if one is None or other is None:
        return one is other
    mine, theirs = one.values, other.values
    return all(same_value(mine.get(n), theirs.get(n), exact=True) for n in names)
