"""Two misconceptions at once, the commonest wrong submissions.

A pair is named when the submission is right wherever neither idea acts, equals the one idea
wherever only that acts, and, where both act, equals both programs executed one on top of the other.
Two ideas that change one function cannot be put together so; then what each does alone has to be
enough.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from grader.evaluation.evaluation import BankFault, Evaluation
from grader.explain.failure import Cell, Failure
from grader.explain.naming import Idea, Match, all_values, ask, named, possible
from grader.explain.observing import numbers_in, observed
from grader.model.report import Explanation, Named

MOST_COMPOSED = 12  # programs of two ideas that are run for one submission
ENOUGH_CASES = 2  # on which an idea has to be seen alone, where both cannot be put together
ENOUGH_NUMBERS = 3  # different ones, likewise


@dataclass(frozen=True)
class Half:
    """An idea that acts nowhere where the submission is right."""

    idea: Idea
    acts: frozenset[Cell]  # of what is wrong
    fits: frozenset[Cell] = field(repr=False)  # of those


def pair(failure: Failure) -> tuple[tuple[Named, ...], Explanation] | None:
    """The two ideas that explain everything that is wrong together, if there are just two."""
    wrong = [
        (c, case)
        for c in failure.values
        for case in failure.wrong.get(c, ())
        if not failure.hides((c, case))
    ]
    evidence = [cell for cell in failure.evidence if cell in set(wrong)]
    halves = _Halves(failure, wrong)
    found: dict[frozenset[str], tuple[Match, Match]] = {}
    composed = 0
    for one, other in halves.pairs(evidence):
        names = frozenset({one.idea.name, other.idea.name})
        if len(names) == 1 or names in found or not _fit_together(one, other, wrong):
            continue
        both = one.acts & other.acts
        if both and composed < MOST_COMPOSED:
            composed += 1
            sure = _is_composed(failure, one, other, wrong)
        else:
            sure = not both
        if sure or all(_seen_alone(failure, half, both) for half in (one, other)):
            found[names] = _match(failure, one, other), _match(failure, other, one)
    if len(found) != 1:  # several pairs that fit are none
        return None
    ((matches),) = found.values()
    return tuple(named(failure, match) for match in matches), _said(failure, matches)


class _Halves:
    """What ideas do where the submission is wrong, found out when it is asked for."""

    def __init__(self, failure: Failure, wrong: Sequence[Cell]) -> None:
        self._failure, self._wrong = failure, wrong
        self._ideas = possible(failure)
        self._known: dict[tuple[str, int], Half | None] = {}

    def pairs(self, evidence: Sequence[Cell]) -> Iterator[tuple[Half, Half]]:
        """Two ideas that may explain the evidence: one fits some of it, the other acts on the rest.

        What is looked at first rules most of them out.
        """
        seen = set()
        for idea in self._ideas:
            if not any(self._shows(idea, cell) for cell in evidence):
                continue
            one = self._half(idea)
            rest = [cell for cell in evidence if one is not None and cell not in one.fits]
            for another in self._ideas:
                key = frozenset({(idea.name, idea.index), (another.name, another.index)})
                if one is None or key in seen or not self._acts(another, rest or evidence[:1]):
                    continue
                seen.add(key)
                other = self._half(another)
                if other is not None:
                    yield one, other

    def _shows(self, idea: Idea, cell: Cell) -> bool:
        return self._failure.acts(idea.evaluation, cell) and self._failure.fits(
            idea.evaluation, cell
        )

    def _acts(self, idea: Idea, cells: Sequence[Cell]) -> bool:
        return all(self._failure.acts(idea.evaluation, cell) for cell in cells)

    def _half(self, idea: Idea) -> Half | None:
        """What an idea does where something is wrong; None where it acts on what is right."""
        key = idea.name, idea.index
        if key not in self._known:
            failure, variant = self._failure, idea.evaluation
            every = all_values(failure)
            ask(failure, [idea], every)
            acts = frozenset(cell for cell in self._wrong if failure.acts(variant, cell))
            fits = frozenset(cell for cell in acts if failure.fits(variant, cell))
            wrong = {(c, case) for c, cases in failure.wrong.items() for case in cases}
            right = (cell for cell in every if cell not in wrong)
            usable = acts and not any(failure.acts(variant, cell) for cell in right)
            self._known[key] = Half(idea, acts, fits) if usable else None
        return self._known[key]


def _fit_together(one: Half, other: Half, wrong: Sequence[Cell]) -> bool:
    """Whether each is what is wrong wherever it acts alone, no place being without either.

    Where one of them is all that is wrong by itself, the other explains nothing.
    """
    return (
        not (one.fits >= set(wrong) or other.fits >= set(wrong))
        and one.acts | other.acts == set(wrong)
        and one.acts - other.acts <= one.fits
        and other.acts - one.acts <= other.fits
    )


def _is_composed(failure: Failure, one: Half, other: Half, wrong: Sequence[Cell]) -> bool:
    """Whether both programs, one on top of the other, compute what the submission does."""
    return any(
        all(failure.fits(evaluation, cell) for cell in wrong)
        for evaluation in _compositions(failure, one.idea, other.idea)
    )


def _compositions(failure: Failure, one: Idea, other: Idea) -> Iterator[Evaluation]:
    bank = failure.mine.bank
    assert bank is not None, "no session gives this evaluation its misconceptions"
    for lower, upper in ((one, other), (other, one)):
        try:
            program = bank.layered(((lower.name, lower.index), (upper.name, upper.index)))
        except BankFault:  # one does not stand on top of the other
            continue
        yield failure.mine.with_bank_program(program)


def _seen_alone(failure: Failure, half: Half, both: frozenset[Cell]) -> bool:
    """Whether an idea explains enough where the other does not act."""
    alone = half.acts - both
    numbers = {n for cell in alone for n in numbers_in(observed(failure.reference, *cell))}
    return (
        len(failure.cases(tuple(alone))) >= ENOUGH_CASES
        and len(numbers) >= ENOUGH_NUMBERS
        and len(alone) >= len(half.acts) / 2
    )


def _match(failure: Failure, half: Half, rest: Half) -> Match:
    """An idea of a pair, with what it alone explains, if there is any such thing."""
    alone = half.acts - rest.acts or half.acts
    explained = tuple(cell for cell in failure.evidence if cell in alone)
    return Match(half.idea, half.acts, explained, exact=False)


def _said(failure: Failure, matches: Sequence[Match]) -> Explanation:
    one, other = (match.idea.name for match in matches)
    values = [(c, case) for c, case in failure.evidence if c.measured_by is None]
    what = "everything" if len(values) == len(failure.evidence) else "every result"
    cases = tuple(dict.fromkeys(case for _, case in values))
    text = f"Two ideas at once, {one} and {other}, explain {what} that is wrong."
    return Explanation("pair", text, cases)
