"""What programs are compared by: every result and measured quantity that the checks look at."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from grader.bench.bench import Bench
from grader.bench.results import Value, same_value
from grader.kinds import registry
from grader.kinds.base import Count
from grader.model.spec import Check
from grader.sandbox.client import WorkerError
from grader.sandbox.replies import ProgramError

SAME_COUNT = 0.01  # counts of the same idea written differently differ by a few small tensors


@dataclass(frozen=True, slots=True)
class Component:
    """One thing that programs can be compared by."""

    name: str  # of a result, or of a measuring check
    run: str
    cases: tuple[str, ...]
    measured_by: Check | None = field(default=None, compare=False)
    exact: bool = False  # every check of it asks for the last bit
    by_style: bool = False  # it depends on how an idea is written too


def components(bench: Bench) -> list[Component]:
    """Everything that the question's checks look at."""
    cases: dict[tuple[str, str], dict[str, None]] = {}
    tolerant: set[tuple[str, str]] = set()
    measured = []
    for check in bench.question.spec.checks:
        names = [c.name for c in bench.cases_of(check)]
        kind = registry.get(check.kind)
        if kind.is_observed(check):
            name = check.results[0] if kind.only_course else check.id  # a curve is a result
            style = kind.by_style(check)
            component = Component(name, check.run, tuple(names), check, by_style=style)
            measured.append((style, kind.slow, component))
            continue
        for result in check.compared:
            cases.setdefault((check.run, result), {}).update(dict.fromkeys(names))
            if not kind.is_exact(check):
                tolerant.add((check.run, result))
    values = [
        Component(result, run, tuple(names), exact=(run, result) not in tolerant)
        for (run, result), names in cases.items()
    ]
    # Most variants are ruled out by one: the quick ones first, and last what few programs agree in.
    return values + [component for *_, component in sorted(measured, key=lambda m: m[:2])]


def observed(bench: Bench, component: Component, case: str) -> Value:
    """What the bench's submission gives for a component on one case; a fault becomes a text."""

    def observe() -> Value:
        check = component.measured_by
        try:
            if check is None:
                found = bench.observed(component.run, bench.cases[case])
                return found.values.get(component.name)
            return registry.get(check.kind).observe(bench, check, bench.cases[case])
        except ProgramError as error:
            return f"raised {error.raised.type if error.raised else 'nothing'}"
        except WorkerError as error:
            return f"stopped: {error}"

    return bench.remember(bench.submission, ("observed", component, case), observe)


def same_on(a: Bench, b: Bench, component: Component, case: str) -> bool:
    """Whether what two programs show of a component on one case is of the same idea."""
    one, other = observed(a, component, case), observed(b, component, case)
    counts = [seen.value for seen in (one, other) if isinstance(seen, Count)]
    if counts:
        return len(counts) == 2 and math.isclose(*counts, rel_tol=SAME_COUNT, abs_tol=256)
    return same_value(one, other, a.cases[case].dtype, exact=component.exact)


def differing(a: Bench, b: Bench, component: Component, first: Sequence[str] = ()) -> Iterator[str]:
    """The cases on which two programs differ in a component."""
    for case in dict.fromkeys((*first, *component.cases)):
        if not same_on(a, b, component, case):
            yield case


def same(a: Bench, b: Bench, component: Component, first: Sequence[str] = ()) -> bool:
    """Whether two programs agree in a component; `first` are cases likely to tell them apart."""
    return next(differing(a, b, component, first), None) is None
