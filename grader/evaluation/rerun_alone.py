"""Is a result wrong by itself, or only because of what was called before?

The submission is loaded again under another name, so that its own names are what they were at
first, and given the case alone.  What it has left outside of its own module is still there: then
nothing is found, and nothing said.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from grader.cases.recipe import CaseRecipe
from grader.evaluation.compare import fault_of
from grader.evaluation.encoding import NATIVE
from grader.evaluation.evaluation import Evaluation
from grader.evaluation.results import same_value
from grader.sandbox.remote import RemoteProgram
from grader.sandbox.replies import Outcome, ProgramError

TRIES = 2  # of each kind: who draws numbers at random is wrong now and right then
MOST_CALLS = 40  # of those before, that are made again
ENOUGH_NANOSECONDS = 500_000_000  # of CPU time: what takes longer is not looked into further

Call = tuple[str, CaseRecipe, str, int]  # run, case, mode, number of the draw


def anew(evaluation: Evaluation) -> RemoteProgram:
    """The submission, loaded once more in its own process.

    Raises:
        ProgramError, WorkerError: it cannot be loaded a second time.
    """
    name = f"{evaluation.submission.name}, anew"
    program = replace(evaluation.submission, name=name)
    program.load(())
    return program


def alone(
    evaluation: Evaluation, run: str, case: CaseRecipe, before: Iterable[Call] = ()
) -> Outcome | None:
    """What the submission computes on a case with nothing called before, or these calls alone.

    Returns:
        None where it raises.

    Raises:
        WorkerError: its process did not survive it.
    """
    try:
        program, found = anew(evaluation), None
    except ProgramError:
        return None
    for name, other, mode, draw_index in (*before, (run, case, NATIVE, 0)):
        inputs = evaluation.inputs(other, name, draw_index=draw_index, mode=mode)
        try:
            with evaluation.limited(other):
                program.limits = evaluation.submission.limits
                found = program.run(evaluation.steps(name), inputs, evaluation.wanted[name])
        except ProgramError:
            found = None
    return found


def remembered(
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

    def wrong(outcome: Outcome | None) -> bool:
        return outcome is None or any(fault_of(evaluation, run, case, n, outcome) for n in names)

    worker = evaluation.submission.worker
    began = worker.cpu_nanoseconds() or 0

    def always(before: Sequence[Call], *, is_wrong: bool) -> bool:
        """Whether it is wrong, or right, and the same every time."""
        first = alone(evaluation, run, case, before)
        if wrong(first) is not is_wrong:
            return False
        for _ in range(1, TRIES):
            if (worker.cpu_nanoseconds() or 0) - began > ENOUGH_NANOSECONDS:
                return False
            if not _same(first, alone(evaluation, run, case, before), names):
                return False
        return True

    here = [n for n, call in enumerate(evaluation.called) if call == (run, case, NATIVE, 0)]
    earlier = evaluation.called[: here[0]] if here else evaluation.called
    histories = [[(run, case, NATIVE, 0)], earlier[-MOST_CALLS:]]
    return always((), is_wrong=False) and any(
        history and always(history, is_wrong=True) for history in histories
    )


def _same(one: Outcome | None, other: Outcome | None, names: Sequence[str]) -> bool:
    """Whether two runs came to the very same results."""
    if one is None or other is None:
        return one is other
    return all(
        same_value(one.values.get(name), other.values.get(name), exact=True) for name in names
    )
