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

An idea is not named if a check that claims it has passed, if it acts where the submission is right,
or if it cannot be told from another one.  What was skipped can contradict, and suggests nothing.
A count of bytes suggests nothing either, but for what is kept.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from grader.evaluation.evaluation import BankFault, Evaluation
from grader.explain.components import Cell, Component, Failure, acts, is_fault, observed, same_on
from grader.explain.further import CALL_SECONDS, SEED, further_inputs
from grader.kinds.base import Count
from grader.model.report import Explanation, Named
from grader.model.spec import Value
from grader.sandbox.client import WorkerError

FIRST = 3  # cells that an idea is tried on at once; then twice as many
ENOUGH_CASES = 6  # on which an idea acts, for it to be no chance of their sizes
LEAST_CASES = 3  # on which a result has to agree, for an idea to be named by that result alone
LEAST_NUMBERS = 3  # different ones, likewise: one number is always some multiple of another
FURTHER_EACH, FURTHER_MOST = 4, 24  # further inputs, of each case that an idea explains and of all
MOST_COMPOSED = 12  # programs of two ideas that are run for one submission
CASES_ALONE = 2  # on which an idea has to be seen alone, where two cannot be put together


@dataclass(frozen=True, slots=True)
class Idea:
    """A variant of a misconception."""

    name: str
    index: int
    evaluation: Evaluation


@dataclass(frozen=True, slots=True)
class Match:
    """An idea that a submission shows."""

    idea: Idea
    acts: frozenset[Cell]  # wherever it differs from the reference
    explained: tuple[Cell, ...]  # of the evidence
    exact: bool = True


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """The ideas that a submission shows."""

    named: tuple[Named, ...] = ()
    confused: frozenset[str] = frozenset()  # ideas that fit it, and cannot be told from each other


def diagnose(failure: Failure) -> Diagnosis:
    """Name the misconceptions that explain what the submission computes.

    Where its process is gone, what it did before counts.
    """
    if not failure.mine.question.variants or not failure.failed or not failure.evidence:
        return Diagnosis()
    ideas = _possible(failure)
    fitting = _best(_exactly(failure, ideas))
    clear = [m for m in fitting if not _equals_another(m, fitting)]
    found = _weighty(failure, clear)
    if not fitting:
        found = _best(_in_part(failure, ideas))
        found = [m for m in found if not _equals_another(m, found)]
    confused = frozenset(m.idea.name for m in fitting if m not in clear)
    sure = [
        match
        for match in found
        if len(_cases(match.acts)) >= ENOUGH_CASES or _holds_further(failure, match)
    ]
    return Diagnosis(tuple(_to_named(failure, match) for match in sure), confused)


def _possible(failure: Failure) -> list[Idea]:
    """The variants of every idea that no check has ruled out."""
    evaluation = failure.mine
    assert evaluation.bank is not None, "no session gives this evaluation its misconceptions"
    found = [
        (name, index)
        for name, sources in evaluation.question.variants.items()
        if failure.passed.isdisjoint(evaluation.question.spec.misconceptions[name].killed_by)
        for index in range(len(sources))
    ]
    return [
        Idea(*one, evaluation.with_bank_program(evaluation.bank.variant(*one))) for one in found
    ]


def _ask(failure: Failure, ideas: Iterable[Idea], cells: Iterable[Cell]) -> None:
    """Have all ideas run the small cases of some cells, in few requests."""
    cases: dict[str, dict[str, None]] = {}
    for c, case in cells:
        if c.measured_by is None:
            cases.setdefault(c.run, {})[case] = None
    programs = [idea.evaluation.submission for idea in ideas]
    for run, names in cases.items():
        own = (failure.mine.cases[name] for name in names)
        small = [case for case in own if failure.mine.is_plain(case)]
        with contextlib.suppress(WorkerError):  # each is then asked for alone
            failure.mine.values(programs, run, small)


def _to_named(failure: Failure, match: Match) -> Named:
    """What a report says of an idea."""
    idea = failure.mine.question.spec.misconceptions[match.idea.name]
    setting = idea.settings[match.idea.index % len(idea.settings)]
    seen = tuple(_cases(match.explained))
    if match.exact:  # a case in which another result is wrong as well is not explained
        of_values = _is_of_values(match)
        left = set(failure.evidence) - set(match.explained)
        other = {case for c, case in left if c.measured_by is None or not of_values}
        seen = tuple(case for case in seen if case not in other)
    return Named(
        id=match.idea.name,
        feedback=idea.said_of({name: _shown(value) for name, value in setting.items()}),
        exact=match.exact,
        results=tuple(dict.fromkeys(c.name for c, _ in match.explained)),
        cases=len(seen),
        failing=len(_cases(failure.evidence)),
        seen=seen,
        checks=tuple(c.id for c in failure.checks if c.id in failure.failed & set(idea.killed_by)),
        rounded=any(c.within for c, _ in match.explained),
    )


def _shown(value: Value) -> str:
    return f"{value:g}".replace("e-0", "e-") if isinstance(value, float) else str(value)


def _cases(cells: Iterable[Cell]) -> set[str]:
    return {case for _, case in cells}


def _is_of_values(match: Match) -> bool:
    """Whether an idea explains results, and not only what is measured."""
    return any(c.measured_by is None for c, _ in match.explained)


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
        variant = idea.evaluation
        if not acts[idea] and not all(_measures_alike(failure, variant, c) for c in measured[:1]):
            continue
        if not elsewhere:  # the results are those of the reference
            elsewhere = _as_measured(failure, variant)
        else:  # what follows from the results confirms the idea, and does not contradict it
            elsewhere.update(c for c in measured if failure.shows(variant, c))
        explained = tuple(cell for cell in failure.evidence if cell in elsewhere)
        # Who keeps the same results, and something else with them, does not do just this.
        exact = all(c.measured_by is None or failure.fits(variant, (c, n)) for c, n in explained)
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
        acts = {i: known for i, known in acts.items() if _extended(failure, i, known, portion)}
    return acts


def _extended(failure: Failure, idea: Idea, acts: set[Cell], cells: Iterable[Cell]) -> bool:
    """Add cells on which an idea acts; False once the submission shows another one."""
    for cell in cells:
        if failure.acts(idea.evaluation, cell):
            if failure.fits(idea.evaluation, cell):
                acts.add(cell)
            elif not failure.hides(cell):
                return False
    return True


def _as_measured(failure: Failure, variant: Evaluation) -> set[Cell]:
    """The measures on which a variant acts; none where the submission's are others, or too few."""
    acts: set[Cell] = set()
    says_what = False
    for c in failure.everything:
        if c.measured_by is None or c.by_style:
            continue
        for cell in ((c, case) for case in c.cases):
            if not _measures_alike(failure, variant, cell):
                return set()
            if failure.acts(variant, cell):
                acts.add(cell)
                says_what |= _says_what(failure, variant, cell)
    return acts if says_what else set()


def _measures_alike(failure: Failure, variant: Evaluation, cell: Cell) -> bool:
    """Whether two programs keep or cost the same, whatever else one of them keeps for itself."""
    mine, other, right = (
        observed(evaluation, *cell) for evaluation in (failure.mine, variant, failure.reference)
    )
    if all(isinstance(seen, Count) and seen.kept is not None for seen in (mine, other, right)):
        more = _recognized(other) - _recognized(right)
        if more:
            return _recognized(mine) - _recognized(right) == more
    return failure.fits(variant, cell)


def _recognized(count: Count) -> set[str]:
    """What is kept that is an input or a result of the run."""
    return {name for name in count.kept or () if not name.startswith("other ")}


def _says_what(failure: Failure, variant: Evaluation, cell: Cell) -> bool:
    """Whether a measure says what was done, and not only how much."""
    other, right = observed(variant, *cell), observed(failure.reference, *cell)
    if not isinstance(other, Count) or not isinstance(right, Count):
        return True
    return other.kept is not None and other.kept != right.kept


# -- in part --------------------------------------------------------------------------------------


def _in_part(failure: Failure, ideas: Sequence[Idea]) -> Iterator[Match]:
    """The matches of ideas with a whole result, wherever else one acts being wrong too."""
    evidence: dict[Component, list[Cell]] = {}
    for cell in failure.evidence:
        if cell[0].measured_by is None:
            evidence.setdefault(cell[0], []).append(cell)
    _ask(failure, ideas, [cells[0] for cells in evidence.values()])
    for idea in ideas:
        whole = {
            c
            for c, cells in evidence.items()
            if all(failure.shows(idea.evaluation, cell) for cell in cells)
        }
        explained = tuple(cell for c in whole for cell in evidence[c])
        if len(_cases(explained)) < LEAST_CASES or len(failure.numbers(explained)) < LEAST_NUMBERS:
            continue
        acts = _acts_on_wrong(failure, idea, whole)
        if acts is not None:
            yield Match(idea, frozenset(acts), explained, exact=False)


def _acts_on_wrong(failure: Failure, idea: Idea, whole: set[Component]) -> set[Cell] | None:
    """The cells on which an idea acts; None where one is right, or another than of the whole."""
    acts = set()
    _ask(failure, [idea], failure.all_values)
    for cell in failure.all_values:
        if failure.acts(idea.evaluation, cell):
            acts.add(cell)
            other = cell[0] in whole and not failure.fits(idea.evaluation, cell)
            if failure.is_right(cell) or other:
                return None
    return acts


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


def _equals_another(match: Match, matches: Sequence[Match]) -> bool:
    """Whether another idea acts where this one does: then nobody can know which it is."""
    return any(match.acts == other.acts for other in matches if other is not match)


def _weighty(failure: Failure, matches: Sequence[Match]) -> list[Match]:
    """Those that explain all that is wrong together, or each most of it, or a whole check."""
    if {cell for match in matches for cell in match.explained} >= set(failure.evidence):
        return list(matches)
    results = _cases(cell for cell in failure.evidence if cell[0].measured_by is None)
    every = _cases(failure.evidence)
    found = []
    for match in matches:
        # An idea about results need not explain what is measured.
        share = len(_cases(match.explained)) / len(results if _is_of_values(match) else every)
        killers = failure.mine.question.spec.misconceptions[match.idea.name].killed_by
        if share > 0.5 or any(
            _is_whole_check(failure, match, check) for check in killers if check in failure.failed
        ):
            found.append(match)
    return found


def _is_whole_check(failure: Failure, match: Match, check: str) -> bool:
    """Whether an idea explains everything that is wrong in a check."""
    found = [cell for cell in failure.evidence if check in cell[0].checks[cell[1]]]
    return bool(found) and set(found) <= set(match.explained)


def _holds_further(failure: Failure, match: Match) -> bool:
    """Whether nothing contradicts an idea on further inputs; true where there are none.

    A size of 2 makes a half of a mean.  Numbers that a person has written are about one input: no
    other can contradict them.
    """
    program, explained = match.idea.evaluation.submission, match.explained
    computed = dict.fromkeys(c for c, _ in explained if c.measured_by is None and not c.within)
    further = further_inputs(failure.mine)
    reference = further.evaluation
    submission = replace(failure.mine.submission, call_seconds=CALL_SECONDS)
    mine = reference.with_submission(submission, SEED)
    idea = reference.with_bank_program(program)
    with contextlib.suppress(WorkerError, BankFault):
        for run in dict.fromkeys(c.run for c in computed):
            origins = dict.fromkeys(case for c, case in explained if c.run == run)
            each = max(1, min(FURTHER_EACH, FURTHER_MOST // len(origins)))
            cases = [case for case, _ in further.of(run, dict.fromkeys(origins, each))]
            reference.values([program], run, cases)
            mine.values([mine.submission], run, cases)
            for c in computed:
                for case in cases if c.run == run else ():
                    cell = c, case.name
                    if (
                        acts(reference, idea, cell)
                        and not same_on(mine, idea, *cell)
                        and not is_fault(observed(mine, *cell))
                    ):
                        return False  # the idea acts there, and the submission shows another one
    return True


# -- two at once ----------------------------------------------------------------------------------


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
    evidence = [cell for cell in failure.evidence if cell in set(wrong)]
    ideas, known, tried = _possible(failure), dict[Idea, Half | None](), set[frozenset[Idea]]()
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
    _ask(failure, [idea], failure.all_values)
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
        len({case for _, case in alone}) >= CASES_ALONE
        and len(failure.numbers(alone)) >= LEAST_NUMBERS
        and len(alone) >= len(half.acts) / 2
    )
