"""Two misconceptions at once, the commonest wrong submissions.

A pair is named when the submission is right wherever neither idea acts, equals the one idea
wherever only that acts, and, where both act, equals both programs executed one on top of the other.
Two ideas that change one function cannot be put together so; then what each does alone has to be
enough.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from grader.evaluation.evaluation import BankFault
from grader.explain.naming import Cell, Failure, Idea, Match, ask, possible, to_named
from grader.model.report import Explanation, Named

MOST_COMPOSED = 12  # programs of two ideas that are run for one submission
ENOUGH_CASES = 2  # on which an idea has to be seen alone, where both cannot be put together
ENOUGH_NUMBERS = 3  # different ones, likewise


@dataclass(frozen=True)
class Half:
    """An idea that acts nowhere where the submission is right."""

    idea: Idea
    acts: frozenset[Cell]  # of what is wrong
    fits: frozenset[Cell]  # of those


def pair(failure: Failure) -> tuple[tuple[Named, ...], Explanation] | None:
    """The two ideas that explain everything that is wrong together, if there are just two."""
    wrong = [
        cell
        for c in failure.values
        for case in failure.wrong.get(c, ())
        if not failure.hides(cell := (c, case))
    ]
    everything, composed = set(wrong), 0
    found: dict[frozenset[str], tuple[Half, Half]] = {}
    for one, other in _candidates(failure, wrong):
        names = frozenset({one.idea.name, other.idea.name})
        if len(names) == 1 or names in found or not _fit_together(one, other, everything):
            continue
        both = one.acts & other.acts
        sure = not both
        if both and composed < MOST_COMPOSED:
            composed += 1
            sure = _is_composed(failure, one.idea, other.idea, wrong)
        if sure or all(_is_seen_alone(failure, half, both) for half in (one, other)):
            found[names] = one, other
    if len(found) != 1:  # several pairs that fit are none
        return None
    ((one, other),) = found.values()
    named = []
    for half, rest in ((one, other), (other, one)):
        alone = half.acts - rest.acts or half.acts  # what it explains, without the other
        explained = tuple(cell for cell in failure.evidence if cell in alone)
        named.append(to_named(failure, Match(half.idea, half.acts, explained, exact=False)))
    values = [(c, case) for c, case in failure.evidence if c.measured_by is None]
    what = "everything" if len(values) == len(failure.evidence) else "every result"
    text = (
        f"Two ideas at once, {one.idea.name} and {other.idea.name}, explain {what} that is wrong."
    )
    return tuple(named), Explanation("pair", text, tuple(dict.fromkeys(case for _, case in values)))


def _candidates(failure: Failure, wrong: Sequence[Cell]) -> Iterator[tuple[Half, Half]]:
    """Two ideas that may explain the evidence: one fits some of it, the other acts on the rest.

    What is looked at first rules most of them out.
    """
    evidence = [cell for cell in failure.evidence if cell in set(wrong)]
    ideas, known, tried = possible(failure), dict[Idea, Half | None](), set[frozenset[Idea]]()
    for idea in ideas:
        if not any(failure.shows(idea.evaluation, cell) for cell in evidence):
            continue
        if idea not in known:
            known[idea] = _half(failure, idea, wrong)
        one = known[idea]
        if one is None:
            continue
        rest = [cell for cell in evidence if cell not in one.fits] or evidence[:1]
        for another in ideas:
            key = frozenset({idea, another})
            if key not in tried and all(failure.acts(another.evaluation, c) for c in rest):
                tried.add(key)
                if another not in known:
                    known[another] = _half(failure, another, wrong)
                if (other := known[another]) is not None:
                    yield one, other


def _half(failure: Failure, idea: Idea, wrong: Sequence[Cell]) -> Half | None:
    """What an idea does where something is wrong; None where it acts on what is right."""
    ask(failure, [idea], failure.all_values)
    variant = idea.evaluation
    acts = frozenset(cell for cell in wrong if failure.acts(variant, cell))
    right = (cell for cell in failure.all_values if failure.is_right(cell))
    if not acts or any(failure.acts(variant, cell) for cell in right):
        return None
    return Half(idea, acts, frozenset(cell for cell in acts if failure.fits(variant, cell)))


def _fit_together(one: Half, other: Half, wrong: set[Cell]) -> bool:
    """Whether each is what is wrong wherever it acts alone, no place being without either.

    Where one of them is all that is wrong by itself, the other explains nothing.
    """
    return (
        not (one.fits >= wrong or other.fits >= wrong)
        and one.acts | other.acts == wrong
        and one.acts - other.acts <= one.fits
        and other.acts - one.acts <= other.fits
    )


def _is_composed(failure: Failure, one: Idea, other: Idea, wrong: Sequence[Cell]) -> bool:
    """Whether both programs, one on top of the other, compute what the submission does."""
    bank = failure.mine.bank
    assert bank is not None, "no session gives this evaluation its misconceptions"
    for lower, upper in ((one, other), (other, one)):
        try:
            program = bank.layered(((lower.name, lower.index), (upper.name, upper.index)))
        except BankFault:  # one does not stand on top of the other
            continue
        both = failure.mine.with_bank_program(program)
        if all(failure.fits(both, cell) for cell in wrong):
            return True
    return False


def _is_seen_alone(failure: Failure, half: Half, both: frozenset[Cell]) -> bool:
    """Whether an idea explains enough where the other does not act."""
    alone = half.acts - both
    return (
        len({case for _, case in alone}) >= ENOUGH_CASES
        and len(failure.numbers(alone)) >= ENOUGH_NUMBERS
        and len(alone) >= len(half.acts) / 2
    )
