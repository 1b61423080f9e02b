"""State that is moved: a run goes on in another process, with what the judge itself has counted.

What a worker says that a run keeps can be evaded by who runs there.  So the run is broken off, what
it keeps is handed to the judge, who counts the bytes, and another process of the same program,
which has never seen the inputs of the first steps, is given that and nothing else to go on from.
If it comes to the right results, what was counted is all that is needed, whatever anybody says.

That costs one run where holding many for the system to see costs dozens.  It proves innocence only:
state that cannot be moved, is larger than it may be, or is not enough elsewhere, says nothing yet.
"""

from __future__ import annotations

from grader.cases.dataflow import free_names
from grader.cases.recipe import CaseRecipe
from grader.evaluation.evaluation import Evaluation, blame_bank
from grader.evaluation.held import prepared
from grader.evaluation.results import same_value
from grader.sandbox.client import WorkerError
from grader.sandbox.levels import STRONG
from grader.sandbox.replies import ProgramError

STRUCTURE = 1 << 10  # bytes that may say what the data are: names of classes, shapes, dtypes


def suffices(evaluation: Evaluation, run: str, case: CaseRecipe, *, of: str, budget: float) -> bool:
    """Whether what a run keeps in the result `of` is at most `budget` bytes, and is enough.

    Its inputs are drawn anew, so that nobody can have kept what they come to.  Where processes
    could reach each other, nothing is said.
    """
    if evaluation.submission.worker.isolation.level != STRONG:
        return False
    if (there := evaluation.elsewhere()) is None:
        return False
    plan = prepared(evaluation, run, case, of, 1, go_on=True)
    if not plan.want:
        return False
    here = plan.inputs.part(0)
    given = {**here, **plan.late.part(0)}
    read = free_names(plan.rest)
    try:
        with evaluation.limited(case):
            kept = evaluation.submission.pack(plan.first, here, plan.keep)
            if not 0 < kept.nbytes <= budget + STRUCTURE:
                return False
            late = {name: given[name] for name in read if name in given and name not in plan.keep}
            there.limits = evaluation.submission.limits
            found = there.go_on(kept, plan.rest, late, plan.want).values
    except (ProgramError, WorkerError):
        return False
    with blame_bank(f"the reference fails on case {case.name}"):
        right = evaluation.reference.run((*plan.first, *plan.rest), given, plan.want).values
    return all(same_value(found.get(name), right[name], case.dtype) for name in plan.want)
