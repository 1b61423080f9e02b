"""What the steps of a run read and give, and the cases that they can be tried on."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from grader.cases.recipe import CaseRecipe
from grader.model.question import Step
from grader.model.spec import Check


def case_names(check: Check, steps: tuple[Step, ...], cases: dict[str, CaseRecipe]) -> list[str]:
    """The cases of a check, in the order of the file; `all`: those that have the run's inputs."""
    if check.cases == "all":
        wanted = free_names(steps).keys()
        return [name for name, case in cases.items() if wanted <= case.inputs.keys()]
    listed = [check.cases] if isinstance(check.cases, str) else list(check.cases)
    draws = (cases[name].others if name in cases else () for name in listed)
    return [
        each
        for name, others in zip(listed, draws, strict=True)
        for each in (name, *(other for other in others if other in cases))
    ]


def free_names(steps: Iterable[Step]) -> dict[str, Step]:
    """The inputs: names that are read before a step assigns them, each with its first reader."""
    assigned: set[str] = set()
    free: dict[str, Step] = {}
    for step in steps:
        for name in step.reads:
            if name not in assigned:
                free.setdefault(name, step)
        assigned.update(step.targets)
    return free


def results(steps: Iterable[Step]) -> list[str]:
    """Names that the steps assign."""
    return [name for step in steps for name in step.targets]


def divided(steps: Sequence[Step], name: str) -> tuple[tuple[Step, ...], tuple[Step, ...]]:
    """The steps that a result needs, and those after them that need no other step before.

    What a step between them does to an object that is handed on would be done at another time, so
    nothing that it gives can be said of a run that is carried out in this order.
    """
    first = producing(steps, name)
    end = max((steps.index(step) for step in first), default=-1) + 1
    without = set(results(step for step in steps[:end] if step not in first))
    rest = []
    for step in steps[end:]:
        if without.isdisjoint(step.reads):
            rest.append(step)
        else:
            without.update(step.targets)
    return first, tuple(rest)


def producing(steps: Sequence[Step], name: str) -> tuple[Step, ...]:
    """The steps that a result needs, in order, and no others."""
    needed, kept = {name}, []
    for step in reversed(steps):
        if needed & set(step.targets):
            kept.append(step)
            needed |= set(step.reads)
    return tuple(reversed(kept))
