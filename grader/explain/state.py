"""Is a submission right when nothing was called before?  Then what it returns says little.

A fault that goes away where a case is asked for alone is one of what is remembered between calls,
and whatever the values look like is true by chance.
"""

from __future__ import annotations

from collections.abc import Sequence

from grader.evaluation.evaluation import Evaluation
from grader.evaluation.fresh import remembered
from grader.explain.cells import Cell
from grader.model.numerals import quantity

MOST = 12  # cases that are run anew


def right_when_alone(evaluation: Evaluation, failing: Sequence[Cell]) -> list[Cell]:
    """The failing cases that are right when nothing was called before.

    Args:
        evaluation: with the submission.
        failing: cells of the question's own cases.

    Raises:
        WorkerError: the submission's process did not survive it.
    """
    right: list[Cell] = []
    for run, name in list(dict.fromkeys((cell.run, cell.case) for cell in failing))[:MOST]:
        mine = [cell for cell in failing if (cell.run, cell.case) == (run, name)]
        results = list(dict.fromkeys(cell.result for cell in mine))
        if remembered(evaluation, run, evaluation.cases[name], results):
            right += mine
    return right


def sentence(right: Sequence[Cell], failing: Sequence[Cell]) -> str:
    """What to say of it."""
    cases = len({c.case for c in right})
    every = {c.case for c in failing}
    results = " and ".join(dict.fromkeys(cell.result for cell in right))
    verb = "is" if len({cell.result for cell in right}) == 1 else "are"
    where = quantity(cases, "failing case", "failing cases")
    if cases == len(every):
        where = "the failing case" if cases == 1 else "every failing case"
    return (
        f"{results} {verb} right on {where} when nothing was called before: "
        "your code remembers something from one call to the next."
    )
