"""Which misconception does a submission hold?  Decided by what it computes, never by how it looks.

Every variant runs on the same inputs as the submission.  It *acts* on a cell (a component on one
case) where it differs from the reference.  An idea is named

- exactly, when the submission equals one of its variants wherever that acts, and what is wrong is
  not mostly something else;
- in part, when it reproduces a result on every case, and is wrong in another way, never right,
  wherever else it acts ("your y is ...");
- with another one, when the submission is right wherever neither acts, equals the one wherever only
  that acts, and, where both act, equals both programs executed one on top of the other.  Two ideas
  that change one function cannot be put together so; then what each does alone has to be enough.

An idea is not named if a check that claims it has passed, or if it acts where the submission is
right.  What was skipped can contradict, and suggests nothing.  A count of bytes suggests nothing
either, but for what is kept.

An idea that explains everything and is not sure is named with its doubt, if no other one is named:
another idea gives the same, or a further input contradicts it.  An input that the contract does not
cover contradicts nothing: there right programs differ, and so may a right program with the idea.
"""

from __future__ import annotations

import contextlib
import functools
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from grader import forms
from grader.cases.recipe import CaseRecipe
from grader.evaluation.compare import fault_of
from grader.evaluation.evaluation import BankFault, Evaluation
from grader.evaluation.tally import inputs_in_words, together
from grader.explain.components import (
    Cell,
    Component,
    Failure,
    is_fault,
    is_within_tolerance,
    observed,
    same_on,
)
from grader.explain.further import CALL_SECONDS, SEED, Further, further_inputs
from grader.kinds.base import Count
from grader.model.numerals import joined
from grader.model.report import Explanation, Named
from grader.sandbox.client import WorkerError
from grader.sandbox.remote import RemoteProgram

FIRST = 3  # cells that an idea is tried on at once; then twice as many
ENOUGH_CASES = 6  # on which an idea acts, for it to be no chance of their sizes
LEAST_CASES = 3  # on which a result has to agree, for an idea to be named by that result alone
LEAST_NUMBERS = 3  # different ones, likewise: one number is always some multiple of another
FURTHER_EACH, FURTHER_MOST = 4, 24  # further inputs, of each case that an idea explains and of all
MOST_COMPOSED = 12  # programs of two ideas that are run for one submission
_FIRST = re.compile(r"(?<=[.!?])\s")  # between sentences
CASES_ALONE = 2  # on which an idea has to be seen alone, where two cannot be put together


@dataclass(frozen=True, slots=True, eq=False)
class Idea:
    """A variant of a misconception, beside the submission and the reference."""

    name: str
    index: int
    evaluation: Evaluation
    mine: Evaluation
    reference: Evaluation

    def acts(self, cell: Cell) -> bool:
        """Whether it differs from the reference there; remembered with what they compute."""
        theirs, known = self.evaluation, ("acts", *cell)
        return theirs.remember(
            known, lambda: not same_on(self.reference, theirs, *cell), theirs.submission
        )

    def fits(self, cell: Cell) -> bool:
        """Whether the submission shows what it shows, up to the tolerance of the checks."""
        return self.is_same(cell) or is_within_tolerance(
            self.mine, self.evaluation, self.reference, *cell
        )

    def is_same(self, cell: Cell) -> bool:
        """Return True if the submission and the idea give the same, without any tolerance."""
        return same_on(self.mine, self.evaluation, *cell)

    def shows(self, cell: Cell) -> bool:
        """Whether it acts there, and the submission shows the same."""
        return self.acts(cell) and self.fits(cell)


@dataclass(frozen=True, slots=True)
class Match:
    """An idea that a submission shows."""

    idea: Idea
    acts: frozenset[Cell]  # wherever it differs from the reference
    explained: tuple[Cell, ...]  # of the evidence
    exact: bool = True
    doubt: str = ""  # a clause on why it is not sure

    @property
    def is_of_values(self) -> bool:
        """Whether it explains results, and not only what is measured."""
        return any(c.measured_by is None for c, _ in self.explained)


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """The ideas that a submission shows."""

    named: tuple[Named, ...] = ()
    confused: frozenset[str] = frozenset()  # ideas that fit it, and cannot be told from each other
    coarse: bool = False  # as far as float32 tells them apart


def diagnose(failure: Failure) -> Diagnosis:
    """Name the misconceptions that explain what the submission computes.

    Where its process is gone, what it did before counts.
    """
    if not failure.mine.question.variants or not failure.failed or not failure.evidence:
        return Diagnosis()
    found, doubtful = _diagnosed(failure)
    if found.named:
        return found
    others = [replace(failure, coarse=True)]
    if not forms.of(failure.mine.question.spec).is_text:  # no function makes what is written
        others.append(replace(failure, lenient=True))
    for other in others:
        found, _ = _diagnosed(other)
        if found.named:
            return found
    named = tuple(_to_named(failure, match) for match in doubtful)
    return replace(found, named=named, coarse=True)


def _diagnosed(failure: Failure) -> tuple[Diagnosis, list[Match]]:
    """Name the sure ideas; and list those that explain everything and are not sure."""
    ideas = _possible(failure)
    exact = _exactly(failure, ideas)
    if failure.lenient:
        exact = (match for match in exact if _explains_everything(failure, match))
    fitting = _best(exact)
    clear = _told_apart(fitting)
    found = _weighty(failure, clear)
    if not fitting and not failure.lenient:
        found = _told_apart(_best(_in_part(failure, ideas)))
    alike = [match for match in fitting if match not in clear]
    sure, doubtful = list[Match](), list[Match]()
    for match in found:
        known = len(_cases(match.acts)) >= ENOUGH_CASES
        doubt = "" if known else _contradiction(failure, match)
        (doubtful if doubt else sure).append(replace(match, doubt=doubt))
    for match in alike:
        twins = [m.idea.name for m in alike if m is not match and m.acts == match.acts]
        doubtful.append(replace(match, doubt=f"but so does {joined(twins)}"))
    diagnosis = Diagnosis(
        tuple(_to_named(failure, match) for match in sure),
        frozenset(match.idea.name for match in alike),
        failure.coarse,
    )
    return diagnosis, [match for match in doubtful if _explains_everything(failure, match)]


def _explains_everything(failure: Failure, match: Match) -> bool:
    """Return True if an idea gives exactly the numbers of every failing case."""
    values = {cell for cell in failure.evidence if cell[0].measured_by is None}
    return match.exact and bool(values) and values <= set(match.explained)


def _possible(failure: Failure) -> list[Idea]:
    """Return the variants of every idea that no check has ruled out.

    An idea of a later part passes all that was asked, so that it explains no failure of that.
    """
    mine, bank = failure.mine, failure.mine.bank
    assert bank is not None, "no session gives this evaluation its misconceptions"
    asked = {check.id for check in mine.checks}
    possible = [
        name
        for name in mine.question.variants
        if failure.passed.isdisjoint(killers := mine.question.ideas[name].killed_by)
        and asked.issuperset(killers[:1])
    ]
    return [
        Idea(name, n, mine.with_bank_program(bank.variant(name, n)), mine, failure.reference)
        for name in possible
        for n in range(len(mine.question.variants[name]))
    ]


def programs_of(failure: Failure) -> list[tuple[str, str, RemoteProgram]]:
    """The variants of every idea that a failing check claims and that none has ruled out.

    Each has its name and the first sentence of its feedback.
    """
    ideas = failure.mine.question.ideas
    return [
        (
            idea.name,
            f'"{_FIRST.split(_feedback(idea), maxsplit=1)[0]}"',
            idea.evaluation.submission,
        )
        for idea in _possible(failure)
        if not failure.failed.isdisjoint(ideas[idea.name].killed_by)
    ]


def _ask(failure: Failure, ideas: Iterable[Idea], cells: Iterable[Cell]) -> None:
    """Have all ideas run the small cases of some cells, in few requests."""
    cases: dict[str, dict[str, None]] = {}
    for c, case in cells:
        if c.measured_by is None:
            cases.setdefault(c.run, {})[case] = None
    programs = [idea.evaluation.submission for idea in ideas]
    for run, names in cases.items():
        failure.mine.ahead(programs, run, [failure.mine.cases[name] for name in names])


def _to_named(failure: Failure, match: Match) -> Named:
    """What a report says of an idea."""
    idea = failure.mine.question.ideas[match.idea.name]
    every = failure.evidence
    if match.is_of_values:  # an idea about results need not explain what is measured
        every = [cell for cell in every if cell[0].measured_by is None]
    # A case in which another result is wrong as well is not explained exactly.
    others = _cases(set(every) - set(match.explained)) if match.exact else set()
    seen = [
        case for case in dict.fromkeys(case for _, case in match.explained) if case not in others
    ]
    return Named(
        id=match.idea.name,
        feedback=_feedback(match.idea),
        exact=match.exact and not match.doubt,
        doubt=match.doubt,
        results=tuple(dict.fromkeys(c.name for c, _ in match.explained)),
        cases=len(seen),
        failing=len(_cases(every)),
        seen=tuple(seen),
        checks=tuple(c.id for c in failure.checks if c.id in failure.failed & set(idea.killed_by)),
        rounded=any(c.within or c.coarse for c, _ in match.explained)
        or not all(map(match.idea.is_same, match.explained)),
    )


def _feedback(idea: Idea) -> str:
    """What is said to who holds an idea, with the values of its parameters in the variant."""
    about = idea.mine.question.ideas[idea.name]
    setting = about.settings[idea.index % len(about.settings)]
    words = {
        name: f"{value:g}".replace("e-0", "e-") if isinstance(value, float) else str(value)
        for name, value in setting.items()
    }
    return about.said_of(words)


def _cases(cells: Iterable[Cell]) -> set[str]:
    return {case for _, case in cells}


# -- exactly --------------------------------------------------------------------------------------


def _exactly(failure: Failure, ideas: Sequence[Idea]) -> Iterator[Match]:
    """The matches of ideas that nothing contradicts and that explain anything."""
    values = [cell for cell in failure.evidence if cell[0].measured_by is None]
    measured = [c for c in failure.evidence if c[0].measured_by is not None and not c[0].by_style]
    # Most ideas are ruled out by what is wrong, or by one case of each result.
    firsts = values or [(c, c.cases[0]) for c in failure.values if c.cases]
    acts = _uncontradicted(failure, ideas, firsts)
    left = [idea for idea in acts if acts[idea] or measured]
    # What is measured takes longest, and is left to the last.
    for idea, elsewhere in _uncontradicted(failure, left, failure.all_values).items():
        if not acts[idea] and not all(_measures_alike(idea, cell) for cell in measured[:1]):
            continue
        if not elsewhere:  # the results are those of the reference
            elsewhere = _as_measured(failure, idea)
        else:  # what follows from the results confirms the idea, and does not contradict it
            elsewhere.update(cell for cell in measured if idea.shows(cell))
        explained = tuple(cell for cell in failure.evidence if cell in elsewhere)
        # Who keeps the same results, and something else with them, does not do just this.
        exact = all(cell[0].measured_by is None or idea.fits(cell) for cell in explained)
        if explained:
            yield Match(idea, frozenset(elsewhere), explained, exact)


def _uncontradicted(
    failure: Failure, ideas: Iterable[Idea], cells: Iterable[Cell]
) -> dict[Idea, set[Cell]]:
    """By idea the cells on which it acts; without the ideas that the submission contradicts."""
    acts: dict[Idea, set[Cell]] = {idea: set() for idea in ideas}
    left, size = list(cells), FIRST
    while left and acts:
        portion, left, size = left[:size], left[size:], 2 * size
        _ask(failure, acts, portion)
        for idea, known in list(acts.items()):
            for cell in filter(idea.acts, portion):
                if idea.fits(cell):
                    known.add(cell)
                elif not (failure.hides(cell) or (failure.lenient and failure.is_apart(cell))):
                    del acts[idea]
                    break
    return acts


def _as_measured(failure: Failure, idea: Idea) -> set[Cell]:
    """The measures on which an idea acts; none where the submission's are others, or too few."""
    acts: set[Cell] = set()
    says_what = False  # and not only how much
    measured = (c for c in failure.everything if c.measured_by is not None and not c.by_style)
    for cell in ((c, case) for c in measured for case in c.cases):
        if not _measures_alike(idea, cell):
            return set()
        if idea.acts(cell):
            acts.add(cell)
            other, right = observed(idea.evaluation, *cell), observed(idea.reference, *cell)
            counts = isinstance(other, Count) and isinstance(right, Count)
            says_what |= not counts or (other.kept is not None and other.kept != right.kept)
    return acts if says_what else set()


def _measures_alike(idea: Idea, cell: Cell) -> bool:
    """Whether two programs keep or cost the same, whatever else one of them keeps for itself."""
    seen = [observed(one, *cell) for one in (idea.mine, idea.evaluation, idea.reference)]
    if all(isinstance(one, Count) and one.kept is not None for one in seen):
        # What is an input or a result of the run, and more than the reference keeps.
        mine, other, right = ({n for n in one.kept if not n.startswith("other ")} for one in seen)
        if more := other - right:
            return bool(mine - right == more)
    return idea.fits(cell)


# -- in part --------------------------------------------------------------------------------------


def _in_part(failure: Failure, ideas: Sequence[Idea]) -> Iterator[Match]:
    """The matches of ideas with a whole result, wherever else one acts being wrong too."""
    evidence: dict[Component, list[Cell]] = {}
    for cell in failure.evidence:
        if cell[0].measured_by is None:
            evidence.setdefault(cell[0], []).append(cell)
    _ask(failure, ideas, [cells[0] for cells in evidence.values()])
    for idea in ideas:
        whole = [c for c, cells in evidence.items() if all(map(idea.shows, cells))]
        explained = tuple(cell for c in whole for cell in evidence[c])
        if len(_cases(explained)) < LEAST_CASES or len(failure.numbers(explained)) < LEAST_NUMBERS:
            continue
        half = _half(failure, idea)
        if half is not None and not any(cell[0] in whole for cell in half.acts - half.fits):
            yield Match(idea, half.acts, explained, exact=False)


@dataclass(frozen=True)
class Half:
    """An idea that acts nowhere where the submission is right."""

    idea: Idea
    acts: frozenset[Cell]
    fits: frozenset[Cell]  # of those


def _half(failure: Failure, idea: Idea) -> Half | None:
    """What an idea does where results are wrong; None where it acts on what is right."""
    _ask(failure, [idea], failure.all_values)
    acts = set()
    for cell in filter(idea.acts, failure.all_values):
        if cell not in failure.wrong:
            return None
        acts.add(cell)
    return Half(idea, frozenset(acts), frozenset(filter(idea.fits, acts)))


# -- which of those that fit ----------------------------------------------------------------------


def _best(matches: Iterable[Match]) -> list[Match]:
    """Of each idea the match that explains most; none that another one's is more than."""
    best: dict[str, Match] = {}
    for match in matches:
        known = best.get(match.idea.name)
        if known is None or (len(match.acts), match.exact) > (len(known.acts), known.exact):
            best[match.idea.name] = match
    found = list(best.values())
    return [match for match in found if not any(match.acts < other.acts for other in found)]


def _told_apart(matches: Sequence[Match]) -> list[Match]:
    """Without those that act where another idea does: nothing can tell which of them it is."""
    acts = [match.acts for match in matches]
    return [match for match in matches if acts.count(match.acts) == 1]


def _weighty(failure: Failure, matches: Sequence[Match]) -> list[Match]:
    """Those that explain all that is wrong together, or each most of it, or a whole check."""
    if {cell for match in matches for cell in match.explained} >= set(failure.evidence):
        return list(matches)
    results = _cases(cell for cell in failure.evidence if cell[0].measured_by is None)
    every = _cases(failure.evidence)

    def is_whole_check(match: Match, check: str) -> bool:
        of_check = {(c, case) for c, case in failure.evidence if check in c.checks[case]}
        return bool(of_check) and of_check <= set(match.explained)

    found = []
    for match in matches:
        if all(isinstance(observed(failure.reference, *cell), bool) for cell in match.explained):
            continue  # True is soon the same as True
        # An idea about results need not explain what is measured.
        share = len(_cases(match.explained)) / len(results if match.is_of_values else every)
        killers = failure.mine.question.ideas[match.idea.name].killed_by
        if share > 0.5 or any(is_whole_check(match, c) for c in killers if c in failure.failed):
            found.append(match)
    return found


def _contradiction(failure: Failure, match: Match) -> str:
    """Return a clause on a further input that contradicts an idea; empty if there is none.

    A size of 2 makes a half of a mean.  Numbers that a person has written are about one input: no
    other can contradict them.
    """
    program, explained = match.idea.evaluation.submission, match.explained
    computed = dict.fromkeys(c for c, _ in explained if c.measured_by is None and not c.within)
    further = further_inputs(failure.mine)
    reference = further.evaluation
    submission = replace(failure.mine.submission, call_seconds=CALL_SECONDS)
    mine, theirs = reference.with_submission(submission, SEED), reference.with_bank_program(program)
    idea = replace(match.idea, evaluation=theirs, mine=mine, reference=reference)
    with contextlib.suppress(WorkerError, BankFault):
        for run in dict.fromkeys(c.run for c in computed):
            origins = dict.fromkeys(case for c, case in explained if c.run == run)
            each = max(1, min(FURTHER_EACH, FURTHER_MOST // len(origins)))
            made = further.of(run, dict.fromkeys(origins, each))
            cases = [case for case, _ in made]
            reference.ahead([program], run, cases)
            mine.ahead([mine.submission], run, cases)
            for case, origin in made:
                cells = [(c, case.name) for c in computed if c.run == run]
                contradicts = any(_contradicts(idea, cell) for cell in cells)
                if contradicts and _is_covered(failure, further, mine, run, case):
                    before = inputs_in_words(failure.mine, failure.mine.cases[origin], run)
                    now = inputs_in_words(reference, case, run)
                    new = {name: words for name, words in now.items() if before.get(name) != words}
                    return f"but not in {origin} with {together(new) or 'other numbers'}"
    return ""


def _contradicts(idea: Idea, cell: Cell) -> bool:
    """Return True if an idea acts on a further input, and the submission shows another one."""
    return idea.acts(cell) and not is_fault(observed(idea.mine, *cell)) and not idea.fits(cell)


def _is_covered(
    failure: Failure, further: Further, mine: Evaluation, run: str, case: CaseRecipe
) -> bool:
    """Return True if the contract covers a further input, as far as it can be seen.

    It does not if the submission gets a result wrong there that is right in all cases of the
    question, or if an accepted solution differs from the reference.
    """
    wrong = {c.name for c, _ in failure.wrong}
    right = {c.name for c in failure.values if c.run == run} - wrong
    outcome = mine.observed(run, case)
    if any(fault_of(mine, run, case, name, outcome) for name in sorted(right)):
        return False
    return not further.is_disputed(run, case, failure.made_of)


# -- two at once ----------------------------------------------------------------------------------


def pair(failure: Failure) -> tuple[tuple[Named, ...], Explanation] | None:
    """The two ideas that explain everything that is wrong together, if there are just two."""
    wrong = [c for c in failure.all_values if c in failure.wrong and not failure.hides(c)]
    composed, found = 0, dict[frozenset[str], tuple[Half, Half]]()
    for one, other in _candidates(failure, wrong):
        names = frozenset({one.idea.name, other.idea.name})
        if len(names) == 1 or names in found or not _fit_together(one, other, set(wrong)):
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
        named.append(_to_named(failure, Match(half.idea, half.acts, explained, exact=False)))
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
    everything, tried = set(wrong), set[frozenset[Idea]]()
    evidence = [cell for cell in failure.evidence if cell in everything]
    ideas = _possible(failure)

    @functools.cache
    def half_of(idea: Idea) -> Half | None:
        half = _half(failure, idea)
        if half is None or not half.acts & everything:
            return None
        return replace(half, acts=half.acts & everything, fits=half.fits & everything)

    for idea in ideas:
        if not any(map(idea.shows, evidence)) or (one := half_of(idea)) is None:
            continue
        rest = [cell for cell in evidence if cell not in one.fits] or evidence[:1]
        for another in ideas:
            key = frozenset({idea, another})
            if key not in tried and all(map(another.acts, rest)):
                tried.add(key)
                if (other := half_of(another)) is not None:
                    yield one, other


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
        if all(same_on(failure.mine, both, *cell) for cell in wrong):
            return True
    return False


def _is_seen_alone(failure: Failure, half: Half, both: frozenset[Cell]) -> bool:
    """Whether an idea explains enough where the other does not act."""
    alone = half.acts - both
    return (
        len(_cases(alone)) >= CASES_ALONE
        and len(failure.numbers(alone)) >= LEAST_NUMBERS
        and len(alone) >= len(half.acts) / 2
    )
