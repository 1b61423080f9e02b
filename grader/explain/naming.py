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

from collections.abc import Iterable, Mapping, Sequence

from grader.bench.bench import Bench
from grader.explain.observing import Component, components, differing, same, same_on
from grader.model.report import CheckResult, Named
from grader.model.verdict import Verdict


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
        c: where
        for c in everything
        # A measure within its budget is not wrong, however much it differs from the reference's.
        if (c.measured_by is None or c.measured_by.id not in passed)
        and (where := list(differing(bench, reference, c)))
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
        (name, [c for c in unexplained if same(bench, variant, c, wrong[c])])
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
            if same_on(mine, variant, component, case):
                like_mine |= component in wrong
            elif not component.by_style and not same_on(reference, variant, component, case):
                return []
    matched = [c for c in wrong if like_mine and same(mine, variant, c, wrong[c])]
    if not matched:
        return []
    for component in everything:
        if component in matched or component.by_style or same(reference, variant, component):
            continue
        if component in wrong or not same(mine, variant, component):
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
