"""Does an idea hold on inputs beyond the question's own?  A size of 2 makes a half of a mean."""

from __future__ import annotations

import contextlib
from dataclasses import replace

from grader.evaluation.evaluation import BankFault, Evaluation
from grader.explain.failure import Cell, Failure
from grader.explain.further import CALL_SECONDS, SEED, further_inputs
from grader.explain.observing import is_fault, observed, same_on
from grader.sandbox.client import WorkerError
from grader.sandbox.remote import RemoteProgram

FROM_EACH = 4  # further inputs, of each case that an idea explains
MOST = 24  # of a run


def holds_further(failure: Failure, program: RemoteProgram, explained: tuple[Cell, ...]) -> bool:
    """Whether nothing contradicts an idea on further inputs; so it is where there are none.

    Numbers that a person has written are about one input: no other can contradict them.

    Args:
        failure: of the submission.
        program: that of the idea.
        explained: what the idea explains.
    """
    computed = [(c, case) for c, case in explained if c.measured_by is None and not c.within]
    further = further_inputs(failure.mine)
    reference = further.evaluation
    mine = reference.with_submission(
        replace(failure.mine.submission, call_seconds=CALL_SECONDS), SEED
    )
    idea = reference.with_bank_program(program)
    with contextlib.suppress(WorkerError, BankFault):
        for run in dict.fromkeys(c.run for c, _ in computed):
            origins = dict.fromkeys(case for c, case in explained if c.run == run)
            each = max(1, min(FROM_EACH, MOST // len(origins)))
            cases = [case for case, _ in further.of(run, dict.fromkeys(origins, each))]
            mine.values([mine.submission], run, cases)
            idea.values([program], run, cases)
            components = dict.fromkeys(c for c, _ in computed if c.run == run)
            for c in components:
                for case in cases:
                    if _contradicts(reference, mine, idea, (c, case.name)):
                        return False
    return True


def _contradicts(reference: Evaluation, mine: Evaluation, idea: Evaluation, cell: Cell) -> bool:
    """Whether the idea acts there, and the submission shows something else."""
    return (
        not same_on(reference, idea, *cell)
        and not same_on(mine, idea, *cell)
        and not is_fault(observed(mine, *cell))
    )
