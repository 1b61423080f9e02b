"""Run a program again: does it remember calls, does it always compute the same?"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import replace

from grader.cases.recipe import CaseRecipe
from grader.evaluation.compare import fault_of
from grader.evaluation.evaluation import BankFault, Evaluation, blame_bank
from grader.evaluation.results import same_value
from grader.sandbox.remote import RemoteProgram
from grader.sandbox.replies import Outcome, ProgramError

TRIES = 2  # of each kind: who draws numbers at random is wrong now and right then
MOST_CALLS = 40  # of those before, that are made again
ENOUGH_NANOSECONDS = 500_000_000  # of CPU time: what takes longer is not looked into further


class Unsteady(BankFault):
    """The same inputs do not give the same results."""


def rerun_alone(
    evaluation: Evaluation, run: str, case: CaseRecipe, before: Sequence[tuple[str, CaseRecipe]]
) -> Outcome | None:
    """What the submission, loaded anew, computes on a case after these calls alone.

    What it has left outside of its own module is still there.

    Returns:
        None where it raises.

    Raises:
        WorkerError: its process did not survive it.
    """
    found = None
    program = replace(evaluation.submission, name=f"{evaluation.submission.name}, anew")
    try:
        program.load(())
    except ProgramError:
        return None
    for name, other in (*before, (run, case)):
        try:
            with evaluation.limited(other):
                program.limits = evaluation.submission.limits
                inputs = evaluation.inputs(other, name)
                found = program.run(evaluation.steps(name), inputs, evaluation.wanted[name])
        except ProgramError:
            found = None
    return found


def remembers(
    evaluation: Evaluation, run: str, case: CaseRecipe, results: Sequence[str] | None = None
) -> bool:
    """Whether the submission is wrong on a case only because something was called before.

    It is so where results are right, and the same every time, with nothing called before, and wrong
    likewise after a call of the same case or after the calls that came before it in the grade.
    Where finding out takes more than half a second of CPU time, nobody knows.

    Args:
        evaluation: with the submission, which was run on the case.
        run: of the question.
        case: on which it does not come to the right results.
        results: that have to be right; all that some check looks at, if not given.

    Raises:
        WorkerError: the submission's process did not survive being asked again.
        BankFault: the reference fails on the case.
    """
    names = evaluation.wanted[run] if results is None else tuple(results)
    worker = evaluation.submission.worker
    began = worker.cpu_nanoseconds() or 0

    def always(before: Sequence[tuple[str, CaseRecipe]], *, is_wrong: bool) -> bool:
        """Whether it is wrong, or right, and the same every time."""
        first = rerun_alone(evaluation, run, case, before)
        wrong = first is None or any(fault_of(evaluation, run, case, n, first) for n in names)
        if wrong is not is_wrong:
            return False
        for _ in range(1, TRIES):
            if (worker.cpu_nanoseconds() or 0) - began > ENOUGH_NANOSECONDS:
                return False
            if not _same(first, rerun_alone(evaluation, run, case, before), names):
                return False
        return True

    called = evaluation.called
    here = next((n for n, call in enumerate(called) if call == (run, case)), len(called))
    histories = [[(run, case)], called[:here][-MOST_CALLS:]]
    return always((), is_wrong=False) and any(
        history and always(history, is_wrong=True) for history in histories
    )


def require_steady(
    evaluation: Evaluation, program: RemoteProgram, *, patience: float = math.inf
) -> None:
    """Run a right program once more on every case, and hold it against the reference.

    Chance in a reference would widen the band by itself, and verdicts would be luck.  The cases are
    taken in the other order, so that a program is caught too that counts its calls.

    Args:
        evaluation: with the reference, which is asked where it has not been yet.
        program: the reference itself, or another process's.
        patience: seconds after which no further case is tried.

    Raises:
        Unsteady: a result differs by more than ways of rounding do.
        BankFault: the reference fails.
    """
    began = time.monotonic()
    tried: set[tuple[str, str]] = set()
    for check in reversed(evaluation.checks):
        steps, wanted = evaluation.steps(check.run), evaluation.wanted[check.run]
        for case in reversed(evaluation.cases_of(check)):
            if (check.run, case.name) in tried or time.monotonic() - began > patience:
                continue
            tried.add((check.run, case.name))
            first = evaluation.truth(check.run, case)
            failing = f"the reference fails on case {case.name} again"
            with evaluation.limited(case), blame_bank(failing):
                program.limits = evaluation.reference.limits
                again = program.run(steps, evaluation.inputs(case, check.run), wanted)
            for name in wanted:
                if not same_value(first.values[name], again.values.get(name), case.dtype):
                    driven = any(step.owner == "driver" for step in steps)
                    who = "the reference, or the driver," if driven else "the reference"
                    raise Unsteady(
                        f"{who} is not deterministic: computed twice from the same inputs, {name} "
                        f"of case {case.name} is not the same; take the chance out of it"
                    )


def _same(one: Outcome | None, other: Outcome | None, names: Sequence[str]) -> bool:
    """Whether two runs came to the very same results."""
    if one is None or other is None:
        return one is other
    values = one.values, other.values
    return all(same_value(values[0].get(n), values[1].get(n), exact=True) for n in names)
