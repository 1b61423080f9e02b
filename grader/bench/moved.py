"""State that is moved: a run goes on in another process, with what the judge itself has counted.

What a worker says that a run keeps can be evaded by who runs there.  So the run is broken off, what
it keeps is handed to the judge, who counts the bytes, and another process of the same program,
which has never seen the inputs of the first steps, is given that and nothing else to go on from.
If it comes to the right results, what was counted is all that is needed, whatever anybody says.

That costs one run where holding many for the system to see costs dozens.  It proves innocence only:
state that cannot be moved, is larger than it may be, or is not enough elsewhere, says nothing yet.
"""

from __future__ import annotations

from grader.bench.bench import Bench, trusting
from grader.bench.held import prepared
from grader.bench.results import same_value
from grader.cases.dataflow import free_names
from grader.cases.recipe import CaseRecipe
from grader.sandbox.client import WorkerError
from grader.sandbox.levels import STRONG
from grader.sandbox.replies import ProgramError

STRUCTURE = 1 << 10  # bytes that may say what the data are: names of classes, shapes, dtypes


def suffices(bench: Bench, run: str, case: CaseRecipe, *, of: str, budget: float) -> bool:
    """Whether what a run keeps in the result `of` is at most `budget` bytes, and is enough.

    Its inputs are drawn anew, so that nobody can have kept what they come to.  Where processes
    could reach each other, nothing is said.
    """
    if bench.submission.worker.isolation.level != STRONG:
        return False
    if (there := bench.elsewhere()) is None:
        return False
    plan = prepared(bench, run, case, of, 1, go_on=True)
    if not plan.want:
        return False
    here = plan.inputs.part(0)
    given = {**here, **plan.late.part(0)}
    read = free_names(plan.rest)
    try:
        with bench.limited(case):
            kept = bench.submission.pack(plan.first, here, plan.keep)
            if not 0 < kept.nbytes <= budget + STRUCTURE:
                return False
            late = {name: given[name] for name in read if name in given and name not in plan.keep}
            there.limits = bench.submission.limits
            found = there.go_on(kept, plan.rest, late, plan.want).values
    except (ProgramError, WorkerError):
        return False
    with trusting(f"the reference fails on case {case.name}"):
        right = bench.reference.run((*plan.first, *plan.rest), given, plan.want).values
    return all(same_value(found.get(name), right[name], case.dtype) for name in plan.want)
