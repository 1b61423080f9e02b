"""What a submission computes before the step that raises: that may be why it does."""

from __future__ import annotations

from collections.abc import Iterator

from grader.bench.bench import Bench
from grader.bench.compare import fault_of
from grader.cases.dataflow import free_names, producing
from grader.cases.recipe import CaseRecipe
from grader.sandbox.replies import Outcome, ProgramError


def before(bench: Bench, run: str, case: CaseRecipe) -> Iterator[tuple[str, Outcome]]:
    """The results that the step that raises needs, on a case; nothing where none raises."""
    try:
        bench.observed(run, case)
    except ProgramError as error:
        steps, step = bench.steps(run), error.step
    else:
        return
    if step is None or step not in steps:
        return
    for earlier in producing(steps[: steps.index(step) + 1], step.targets[0])[:-1]:
        for result in earlier.targets:
            found = up_to(bench, run, case, result) if result in bench.wanted[run] else None
            if found:
                yield result, found


def wrong_before(bench: Bench, run: str, case: CaseRecipe) -> str:
    """What is wrong, on a case, of the results that the step that raises needs; else ''."""
    for result, found in before(bench, run, case):
        if fault := fault_of(bench, run, case, result, found):
            return fault.sentence
    return ""


def up_to(bench: Bench, run: str, case: CaseRecipe, result: str) -> Outcome | None:
    """A result by itself, of a run that raises in a step that it does not need.

    Returns:
        None where it raises.

    Raises:
        WorkerError: the process did not survive it.
    """
    steps = producing(bench.steps(run), result)

    def ask() -> Outcome | None:
        drawn = bench.inputs(case, run)
        given = {name: drawn[name] for name in free_names(steps)}
        try:
            return bench.submission.run(steps, given, [result])
        except ProgramError:
            return None

    return bench.remember(bench.submission, ("up to", run, case.name, result), ask)
