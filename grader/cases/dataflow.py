"""What the steps of a run read and give, and the cases that they can be tried on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from grader.cases.recipe import CaseRecipe
    from grader.model.question import Step
    from grader.model.spec import Check


def case_names(check: Check, steps: tuple[Step, ...], cases: dict[str, CaseRecipe]) -> list[str]:
    """The cases of a check, in the order of the file; `all`: those that have the run's inputs."""
    if check.cases == "all":
        wanted = set(free_names(steps))
        return [name for name, case in cases.items() if wanted <= case.inputs.keys()]
    return [check.cases] if isinstance(check.cases, str) else list(check.cases)


def free_names(steps: tuple[Step, ...]) -> list[str]:
    """Names that steps read before any step assigns them: the inputs."""
    assigned: set[str] = set()
    free: dict[str, None] = {}
    for step in steps:
        for name in step.reads:
            if name not in assigned:
                free[name] = None
        assigned.update(step.targets)
    return list(free)


def results(steps: tuple[Step, ...]) -> list[str]:
    """Names that the steps assign."""
    return [name for step in steps for name in step.targets]


def producing(steps: Sequence[Step], name: str) -> tuple[Step, ...]:
    """The steps that a result needs, in order, and no others."""
    needed, kept = {name}, []
    for step in reversed(steps):
        if needed & set(step.targets):
            kept.append(step)
            needed |= set(step.reads)
    return tuple(reversed(kept))
