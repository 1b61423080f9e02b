"""Is a submission right when nothing was called before?  Then what it returns says little.

Each failing case is run on the submission loaded anew.  A fault that goes away is one of what is
remembered between calls, and whatever the values look like is true by chance.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from grader.bench.bench import BankFault, Bench
from grader.explain.cells import Cell, Looked, cells
from grader.model.numerals import quantity
from grader.sandbox.remote import RemoteProgram
from grader.sandbox.replies import ProgramError

MOST = 12  # cases that are run anew
SAMPLE = 3  # of them first, and one more
TWICE = 2  # as often has each to be right: what draws numbers is right by chance


def right_when_alone(bench: Bench, looked: Looked, failing: Sequence[Cell]) -> list[Cell]:
    """The failing cases that are right when nothing was called before.

    Args:
        bench: with the submission.
        looked: what is compared.
        failing: cells of the question's own cases.

    Raises:
        WorkerError: the submission's process did not survive it.
    """
    places = list(dict.fromkeys((cell.run, cell.case) for cell in failing))
    right: list[Cell] = []
    # First the last ones, before which most was called; the others only if that shows something.
    sample = list(dict.fromkeys([*places[-SAMPLE:], places[0]]))
    for some in (sample, [p for p in places if p not in sample][: MOST - len(sample)]):
        for place in some:
            mine = [cell for cell in failing if (cell.run, cell.case) == place]
            left = {cell.result for cell in mine}
            for _ in range(TWICE):
                if left:
                    left &= _right_alone(bench, looked, place, left)
            right += [cell for cell in mine if cell.result in left]
        if not right:
            break
    return sorted(right, key=failing.index)


def _right_alone(
    bench: Bench, looked: Looked, place: tuple[str, str], results: set[str]
) -> set[str]:
    """Which results of a run are right on one case, on the submission loaded anew."""
    run, name = place
    program = _anew(bench.submission)
    try:
        program.load(bench.question.functions)
        alone = bench.with_submission(program)
        found = cells(
            alone, looked, [(run, result) for result in sorted(results)],
            [(bench.cases[name], name)],
        )  # fmt: skip
    except (ProgramError, BankFault):
        return set()
    if program.worker.failure is not None:
        raise program.worker.failure
    return {cell.result for cell in found if cell.ok}


def _anew(program: RemoteProgram) -> RemoteProgram:
    """The same program under another name, so that its module is another one."""
    return replace(program, name="submission alone")


def sentence(right: Sequence[Cell], failing: Sequence[Cell]) -> str:
    """What to say of it."""
    cases = len({(c.run, c.case) for c in right})
    every = {(c.run, c.case) for c in failing}
    results = " and ".join(dict.fromkeys(cell.result for cell in right))
    verb = "is" if len({cell.result for cell in right}) == 1 else "are"
    where = quantity(cases, "failing case", "failing cases")
    if cases == len(every):
        where = "the failing case" if cases == 1 else "every failing case"
    return (
        f"{results} {verb} right on {where} when nothing was called before: "
        "your code remembers something from one call to the next."
    )
