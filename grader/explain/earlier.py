"""What a submission computes before the step that raises: that may be why it does."""

from __future__ import annotations

from collections.abc import Iterator

from grader.cases.dataflow import free_names, producing
from grader.cases.recipe import CaseRecipe
from grader.evaluation.compare import fault_of
from grader.evaluation.evaluation import Evaluation
from grader.sandbox.replies import Outcome, ProgramError


def before(evaluation: Evaluation, run: str, case: CaseRecipe) -> Iterator[tuple[str, Outcome]]:
    """The results that the step that raises needs, on a case; nothing where none raises."""
    try:
        evaluation.observed(run, case)
    except ProgramError as error:
        steps, step = evaluation.steps(run), error.step
    else:
        return
    if step is None or step not in steps:
        return
    for earlier in producing(steps[: steps.index(step) + 1], step.targets[0])[:-1]:
        for result in earlier.targets:
            found = (
                up_to(evaluation, run, case, result) if result in evaluation.wanted[run] else None
            )
            if found:
                yield result, found


def wrong_before(evaluation: Evaluation, run: str, case: CaseRecipe) -> str:
    """What is wrong, on a case, of the results that the step that raises needs; else ''."""
    for result, found in before(evaluation, run, case):
        if fault := fault_of(evaluation, run, case, result, found):
            return fault.sentence
    return ""


def up_to(evaluation: Evaluation, run: str, case: CaseRecipe, result: str) -> Outcome | None:
    """A result by itself, of a run that raises in a step that it does not need.

    Returns:
        None where it raises.

    Raises:
        WorkerError: the process did not survive it.
    """
    steps = producing(evaluation.steps(run), result)

    def ask() -> Outcome | None:
        drawn = evaluation.inputs(case, run)
        given = {name: drawn[name] for name in free_names(steps)}
        try:
            return evaluation.submission.run(steps, given, [result])
        except ProgramError:
            return None

    return evaluation.remember(evaluation.submission, ("up to", run, case.name, result), ask)
