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

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from grader.bench.bench import Bench
from grader.bench.results import Value, same_value
from grader.kinds import registry
from grader.kinds.base import Count
from grader.model.report import CheckResult, Named
from grader.model.spec import Check
from grader.model.verdict import Verdict
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


def diagnose(bench: Bench, checks: Sequence[CheckResult]) -> tuple[Named, ...]:
    """Name the misconceptions that explain what the submission computes.

    Where its process is gone, what it did before counts.
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
    assert bench.bank is not None, "no session gives this bench its misconceptions"
    variants = [
        (name, bench.with_bank_program(bench.bank.variant(name, index)))
        for name, sources in bench.question.variants.items()
        for index in range(len(sources))
    ]
    exact = _best(
        (name, _explains(bench, reference, variant, everything, wrong))
        for name, variant in variants
    )
    explained = {c for matched in exact.values() for c in matched}
    untried = {c.id for c in checks if c.verdict is Verdict.SKIPPED}
    unexplained = [
        c
        for c in wrong
        # A measure that was never held against its budget can confirm an idea, not suggest one.
        if c not in explained and (c.measured_by is None or c.measured_by.id not in untried)
    ]
    partial = _best(
        (name, [c for c in unexplained if _same(bench, variant, c, wrong[c])])
        for name, variant in variants
    )
    return tuple(
        Named(
            id=name,
            feedback=bench.question.spec.misconceptions[name].feedback.strip(),
            exact=matches is exact,
            results=tuple(dict.fromkeys(c.name for c in matched)),
            cases=len({case for c in matched for case in wrong[c]}),
        )
        for matches in (exact, partial)
        for name, matched in matches.items()
    )


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


def _observed(bench: Bench, component: Component, case: str) -> Value:
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


def _same_on(a: Bench, b: Bench, component: Component, case: str) -> bool:
    """Whether what two programs show of a component on one case is of the same idea."""
    one, other = _observed(a, component, case), _observed(b, component, case)
    counts = [seen.value for seen in (one, other) if isinstance(seen, Count)]
    if counts:
        return len(counts) == 2 and math.isclose(*counts, rel_tol=SAME_COUNT, abs_tol=256)
    return same_value(one, other, a.cases[case].dtype, exact=component.exact)


def _differing(
    a: Bench, b: Bench, component: Component, first: Sequence[str] = ()
) -> Iterator[str]:
    """The cases on which two programs differ in a component."""
    for case in dict.fromkeys((*first, *component.cases)):
        if not _same_on(a, b, component, case):
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
    # One case of each rules out most variants; only the few left are looked at whole.
    values = [c for c in everything if c.measured_by is None]
    quick = [c for c in values if c in wrong] or values  # measuring takes much longer
    like_mine = False
    for component in dict.fromkeys((*quick, *wrong)):
        for case in wrong.get(component, component.cases)[:1]:
            if _same_on(mine, variant, component, case):
                like_mine |= component in wrong
            elif not component.by_style and not _same_on(reference, variant, component, case):
                return []
    matched = [c for c in wrong if like_mine and _same(mine, variant, c, wrong[c])]
    if not matched:
        return []
    for component in everything:
        if component in matched or component.by_style or _same(reference, variant, component):
            continue
        if component in wrong or not _same(mine, variant, component):
            return []
    return matched


def _best(matches: Iterable[tuple[str, list[Component]]]) -> dict[str, list[Component]]:
    """By misconception what it explains most of; none that another explains more than."""
    best: dict[str, list[Component]] = {}
    for name, matched in matches:
        if len(matched) > len(best.get(name, ())):
            best[name] = matched
    return {
        name: matched
        for name, matched in best.items()
        if not any(set(matched) < set(other) for other in best.values())
    }
