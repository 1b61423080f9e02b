"""Where do the sizes of a case make two wrong ideas compute the same?

With two rows, twice the loss and the sum instead of the mean are one number.  A check that fails on
such cases alone cannot tell which idea it has found, though others of the question's cases could.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from grader.audit.trivial import needed
from grader.evaluation.evaluation import Evaluation
from grader.explain.components import Component, components, same_on
from grader.model.audit import Remark
from grader.model.keys import Check
from grader.session import GradingSession

MOST = 3  # cases that are named

Spot = tuple[Component, str]  # a result of a run, and a case


def remarks(session: GradingSession, seed: int) -> list[Remark]:
    """The checks that claim one of two ideas and see them on cases alone that make them one."""
    question = session.question
    evaluation = session.bank.evaluation(session.bank.reference, seed)
    right = evaluation.with_bank_program(session.bank.reference)
    results = [c for c in components(right) if c.measured_by is None]
    variants = {
        (name, index): right.with_bank_program(session.bank.variant(name, index))
        for name, sources in question.variants.items()
        for index in range(len(sources))
    }
    wrong = {
        key: {(c, case) for c in results for case in c.cases if not same_on(right, one, c, case)}
        for key, one in variants.items()
    }
    ideas = question.spec.misconceptions
    found: dict[str, dict[tuple[str, str], list[str]]] = {}
    for one, other in combinations(variants, 2):
        if one[0] == other[0]:
            continue
        for check, cases in _blind(
            right, (variants[one], variants[other]), (wrong[one], wrong[other])
        ):
            if check.id not in {*ideas[one[0]].killers, *ideas[other[0]].killers}:
                continue  # nobody says that it is about one of them
            found.setdefault(check.id, {}).setdefault((one[0], other[0]), cases)
    return [Remark("alike", _sentence(check, pairs)) for check, pairs in found.items()]


def _blind(
    right: Evaluation, pair: tuple[Evaluation, Evaluation], wrong: tuple[set[Spot], set[Spot]]
) -> Iterator[tuple[Check, list[str]]]:
    """The checks that see both ideas, on the same cases, as one; and those cases."""
    alike = {spot for spot in wrong[0] & wrong[1] if same_on(*pair, *spot)}
    apart = {c for c, _ in (wrong[0] | wrong[1]) - alike}  # other cases show that they differ
    if not alike or not apart:
        return
    checks = {check.id: check for check in right.question.spec.checks}
    before = needed(right.question.spec)
    for check in checks.values():
        seen, other, same = (_of(right, check, spots) for spots in (*wrong, alike))
        if any(_of(right, checks[n], spots) for n in before[check.id] for spots in wrong):
            continue  # one of them is stopped before
        if not check.stretch and same and seen == other == same and {c for c, _ in same} & apart:
            yield check, sorted({case for c, case in same if c in apart})


def _of(evaluation: Evaluation, check: Check, spots: set[Spot]) -> set[Spot]:
    """Those that a check looks at."""
    cases = {case.name for case in evaluation.cases_of(check)}
    names = set(check.compared)
    return {(c, on) for c, on in spots if c.run == check.run and c.name in names and on in cases}


def _sentence(check: str, pairs: dict[tuple[str, str], list[str]]) -> str:
    (first, cases), *others = pairs.items()
    more = f" (and {len(others)} more pairs)" if others else ""
    return (
        f"{check} sees {' and '.join(first)} as one{more}: in {', '.join(cases[:MOST])} they "
        "compute the same, and in other cases not; is a size equal to another, or to a factor?"
    )
