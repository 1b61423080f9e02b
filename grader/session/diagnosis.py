"""Which misconception does a submission hold?  Decided by what it computes, never by how it looks.

Every variant runs on the same inputs as the submission.  A *component* is one result of one run, or
one measured quantity, over all its cases.  A variant is named

- exactly, when on every component the submission equals the variant, or the variant equals the
  reference;
- in part, when it reproduces components that no exactly named one explains ("your grad_w is ...").

A variant that agrees on fewer components than another does is dropped; when nothing matches,
nothing is named.  Several names mean several faults, or ideas that these cases cannot tell apart.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from grader.bench.bench import Bench
from grader.bench.sameness import same_value
from grader.cases.recipe import CaseRecipe
from grader.kinds import registry
from grader.model.report import CheckResult, Named
from grader.model.spec import Check
from grader.model.verdict import Verdict
from grader.sandbox.client import WorkerError
from grader.sandbox.replies import ProgramError


@dataclass(frozen=True, slots=True)
class Component:
    """One thing that programs can be compared by."""

    name: str  # of a result, or of a measuring check
    run: str
    cases: tuple[str, ...]
    measured_by: Check | None = field(default=None, compare=False)
    exact: bool = False  # every check of it asks for the last bit


@dataclass(frozen=True, slots=True)
class Match:
    """A misconception's agreement with the submission."""

    id: str
    components: list[Component]
    exact: bool
    cases: int


def diagnose(bench: Bench, checks: Sequence[CheckResult]) -> tuple[Named, ...]:
    """Name the misconceptions that explain what the submission computes.

    Args:
        bench: the programs; where the submission's process is gone, what it did before counts.
        checks: what was found.
    """
    if not bench.question.variants or not any(
        c.verdict in {Verdict.FAIL, Verdict.ERROR, Verdict.LIMIT} for c in checks
    ):
        return ()
    everything = components(bench)
    reference = bench.with_bank_program(bench.reference)
    passed = {c.id for c in checks if c.verdict is Verdict.PASS}
    wrong = {
        c: differing
        for c in everything
        # A measure within its budget is not wrong, however much it differs from the reference's.
        if (c.measured_by is None or c.measured_by.id not in passed)
        and (differing := list(_differing(bench, reference, c)))
    }
    if not wrong:
        return ()
    variants = [
        (name, bench.with_variant(name, index))
        for name, sources in bench.question.variants.items()
        for index in range(len(sources))
    ]
    exact = _best(
        Match(name, matched, True, _cases(wrong, matched))
        for name, variant in variants
        if (matched := _explains(bench, reference, variant, everything, wrong))
    )
    untried = {c.id for c in checks if c.verdict is Verdict.SKIPPED}
    unexplained = [
        c
        for c in wrong
        # A measure that was never held against its budget can confirm an idea, not suggest one.
        if not (c.measured_by is not None and c.measured_by.id in untried)
        and not any(c in m.components for m in exact)
    ]
    partial = _best(
        Match(name, matched, False, _cases(wrong, matched))
        for name, variant in variants
        if (matched := [c for c in unexplained if _same(bench, variant, c, wrong[c])])
    )
    return tuple(_named(bench, match) for match in exact + partial)


def components(bench: Bench) -> list[Component]:
    """Everything that the question's checks look at."""
    cases: dict[tuple[str, str], dict[str, None]] = {}
    tolerant: set[tuple[str, str]] = set()
    measured = []
    for check in bench.question.spec.checks:
        names = [c.name for c in bench.cases_of(check)]
        kind = registry.get(check.kind)
        if kind.is_observed(check):
            name = kind.observed_name(check)
            measured.append(Component(name, check.run, tuple(names), check))
            continue
        for result in check.compared:
            cases.setdefault((check.run, result), {}).update(dict.fromkeys(names))
            if not kind.is_exact(check):
                tolerant.add((check.run, result))
    values = [
        Component(result, run, tuple(names), exact=(run, result) not in tolerant)
        for (run, result), names in cases.items()
    ]
    return values + sorted(
        measured, key=_cost
    )  # cheap ones first: most variants are ruled out by one


def _by_style(component: Component) -> bool:
    """Whether a component depends on how an idea is written too: the peak of temporaries does."""
    check = component.measured_by
    return check is not None and registry.get(check.kind).by_style(check)


def _cost(component: Component) -> int:
    check = component.measured_by
    return 0 if check is None else registry.get(check.kind).cost(check)


def observe(bench: Bench, component: Component, case: CaseRecipe) -> Any:  # noqa: ANN401 a result or a count
    """What the bench's submission gives for a component on one case; a fault becomes a text."""
    check = component.measured_by
    try:
        if check is None:
            return bench.observed(component.run, case).values.get(component.name)
        return registry.get(check.kind).observe(bench, check, case)
    except ProgramError as error:
        return f"raised {error.raised.type if error.raised else 'nothing'}"
    except WorkerError as error:
        return f"stopped: {error}"


def _agree(one: Any, other: Any, component: Component, dtype: str) -> bool:  # noqa: ANN401
    """Whether two observations, on a case of that dtype, are of the same idea."""
    if component.measured_by is None:
        return same_value(one, other, dtype, exact=component.exact)
    return registry.get(component.measured_by.kind).agree(one, other, dtype)


def _observed(bench: Bench, component: Component, case: str) -> Any:  # noqa: ANN401 a result or a count
    return bench.remember(
        bench.submission,
        ("observed", component, case),
        lambda: observe(bench, component, bench.cases[case]),
    )


def _differing(
    a: Bench, b: Bench, component: Component, first: Sequence[str] = ()
) -> Iterator[str]:
    """The cases on which two programs differ in a component."""
    for case in dict.fromkeys((*first, *component.cases)):
        dtype = a.cases[case].dtype
        if not _agree(
            _observed(a, component, case), _observed(b, component, case), component, dtype
        ):
            yield case


def _same(a: Bench, b: Bench, component: Component, first: Sequence[str] = ()) -> bool:
    """Whether two programs agree in a component; `first` are cases likely to tell them apart."""
    return next(_differing(a, b, component, first), None) is None


def _explains(
    mine: Bench,
    reference: Bench,
    variant: Bench,
    everything: Sequence[Component],
    wrong: Mapping[Component, list[str]],
) -> list[Component]:
    """The wrong components that a variant reproduces; none when it contradicts the submission."""
    # One call on a failing case rules out most variants; only the few left are looked at whole.
    matched = [c for c in wrong if _same(mine, variant, c, wrong[c])]
    if not matched:
        return []
    for component in everything:
        if component in matched or _by_style(component):
            continue
        if _same(reference, variant, component):
            continue
        if component in wrong or not _same(mine, variant, component):
            return []
    return matched


def _cases(wrong: Mapping[Component, list[str]], matched: Sequence[Component]) -> int:
    return len({case for c in matched for case in wrong[c]})


def _best(matches: Iterable[Match]) -> list[Match]:
    """One match a misconception, and none that another explains more than."""
    best: dict[str, Match] = {}
    for match in matches:
        if match.id not in best or len(match.components) > len(best[match.id].components):
            best[match.id] = match
    return [
        m
        for m in best.values()
        if not any(set(m.components) < set(o.components) for o in best.values())
    ]


def _named(bench: Bench, match: Match) -> Named:
    return Named(
        id=match.id,
        feedback=bench.question.spec.misconceptions[match.id].feedback.strip(),
        exact=match.exact,
        results=tuple(dict.fromkeys(c.name for c in match.components)),
        cases=match.cases,
    )
