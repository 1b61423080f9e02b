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
from grader.explain.components import (
    Component,
    Failure,
    ResultCell,
    is_fault,
    is_within_tolerance,
    observe_component,
    same_in_cell,
)
from grader.explain.extra_cases import EXTRA_SEED, ExtraCases, extra_cases
from grader.grading.case_by_case import describe_inputs, join_inputs
from grader.grading.compare import find_mismatch
from grader.grading.evaluation import BankProgramError, Evaluation
from grader.grading.kinds.base import Count
from grader.model.limits import EXTRA_CALL_SECONDS
from grader.model.number_format import join_words
from grader.model.report import Explanation, IdeaMatch
from grader.sandbox.client import WorkerError
from grader.sandbox.remote_program import RemoteProgram

FIRST_BATCH_CELLS = 3  # cells that an idea is tried on at once; then twice as many
CASES_WITHOUT_EXTRA_INPUTS = 6  # on which an idea acts, for it to be no chance of their sizes
MIN_PARTIAL_CASES = (
    3  # on which a result has to agree, for an idea to be named by that result alone
)
MIN_DISTINCT_NUMBERS = 3  # different ones, likewise: one number is always some multiple of another
EXTRA_INPUTS_PER_CASE, MAX_EXTRA_INPUTS = (
    4,
    24,
)  # further inputs, of each case that an idea explains and of all
MAX_LAYERED_PROGRAMS = 12  # programs of two ideas that are run for one submission
_FIRST = re.compile(r"(?<=[.!?])\s")  # between sentences
MIN_CASES_ALONE = 2  # on which an idea has to be seen alone, where two cannot be put together


@dataclass(frozen=True, slots=True, eq=False)
class IdeaVariant:
    """A variant of a misconception, beside the submission and the reference."""

    name: str
    index: int
    evaluation: Evaluation
    submission_evaluation: Evaluation
    reference: Evaluation

    def changes_cell(self, cell: ResultCell) -> bool:
        """Whether it differs from the reference there; remembered with what they compute."""
        theirs, known = self.evaluation, ("acts", *cell)
        return theirs.remember(
            known, lambda: not same_in_cell(self.reference, theirs, *cell), theirs.submission
        )

    def equals_submission(self, cell: ResultCell) -> bool:
        """Whether the submission shows what it shows, up to the tolerance of the checks."""
        return self.equals_exactly(cell) or is_within_tolerance(
            self.submission_evaluation, self.evaluation, self.reference, *cell
        )

    def equals_exactly(self, cell: ResultCell) -> bool:
        """Return True if the submission and the idea give the same, without any tolerance."""
        return same_in_cell(self.submission_evaluation, self.evaluation, *cell)

    def explains(self, cell: ResultCell) -> bool:
        """Whether it acts there, and the submission shows the same."""
        return self.changes_cell(cell) and self.equals_submission(cell)


@dataclass(frozen=True, slots=True)
class Match:
    """An idea that a submission shows."""

    idea_variant: IdeaVariant
    changed_cells: frozenset[ResultCell]  # wherever it differs from the reference
    explained_cells: tuple[ResultCell, ...]  # of the evidence
    is_exact: bool = True
    doubt: str = ""  # a clause on why it is not sure

    @property
    def explains_values(self) -> bool:
        """Whether it explains results, and not only what is measured."""
        return any(c.measured_by is None for c, _ in self.explained_cells)


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """The ideas that a submission shows."""

    matches: tuple[IdeaMatch, ...] = ()
    ambiguous_ideas: frozenset[str] = (
        frozenset()
    )  # ideas that fit it, and cannot be told from each other
    compares_in_float32: bool = False  # as far as float32 tells them apart


def diagnose(failure: Failure) -> Diagnosis:
    """Name the misconceptions that explain what the submission computes.

    Where its process is gone, what it did before counts.
    """
    if (
        not failure.submission_evaluation.question.variants
        or not failure.failed_checks
        or not failure.failing_cells
    ):
        return Diagnosis()
    found, doubtful = _diagnosed(failure)
    if found.matches:
        return found
    others = [replace(failure, compares_in_float32=True)]
    if not forms.form_of(
        failure.submission_evaluation.question.spec
    ).is_text:  # no function makes what is written
        others.append(replace(failure, lenient=True))
    for other in others:
        found, _ = _diagnosed(other)
        if found.matches:
            return found
    named = tuple(_to_named(failure, match) for match in doubtful)
    return replace(found, matches=named, compares_in_float32=True)


def _diagnosed(failure: Failure) -> tuple[Diagnosis, list[Match]]:
    """Name the sure ideas; and list those that explain everything and are not sure."""
    ideas = _possible(failure)
    exact = _exactly(failure, ideas)
    if failure.lenient:
        exact = (match for match in exact if _explains_everything(failure, match))
    fitting = _best_per_idea(exact)
    clear = _distinct(fitting)
    found = _explaining_most(failure, clear)
    if not fitting and not failure.lenient:
        found = _distinct(_best_per_idea(_in_part(failure, ideas)))
    alike = [match for match in fitting if match not in clear]
    sure, doubtful = list[Match](), list[Match]()
    for match in found:
        known = len(_cases(match.changed_cells)) >= CASES_WITHOUT_EXTRA_INPUTS
        doubt = "" if known else _contradiction(failure, match)
        (doubtful if doubt else sure).append(replace(match, doubt=doubt))
    for match in alike:
        twins = [
            m.idea_variant.name
            for m in alike
            if m is not match and m.changed_cells == match.changed_cells
        ]
        doubtful.append(replace(match, doubt=f"but so does {join_words(twins)}"))
    diagnosis = Diagnosis(
        tuple(_to_named(failure, match) for match in sure),
        frozenset(match.idea_variant.name for match in alike),
        failure.compares_in_float32,
    )
    return diagnosis, [match for match in doubtful if _explains_everything(failure, match)]


def _explains_everything(failure: Failure, match: Match) -> bool:
    """Return True if an idea gives exactly the numbers of every failing case."""
    values = {cell for cell in failure.failing_cells if cell[0].measured_by is None}
    return match.is_exact and bool(values) and values <= set(match.explained_cells)


def _possible(failure: Failure) -> list[IdeaVariant]:
    """Return the variants of every idea that no check has ruled out.

    An idea of a later part passes all that was asked, so that it explains no failure of that.
    """
    mine, bank = failure.submission_evaluation, failure.submission_evaluation.bank
    assert bank is not None, "no session gives this evaluation its misconceptions"
    asked = {check.id for check in mine.checks}
    possible = [
        name
        for name in mine.question.variants
        if failure.passed_checks.isdisjoint(killers := mine.question.ideas[name].killed_by)
        and asked.issuperset(killers[:1])
    ]
    return [
        IdeaVariant(
            name, n, mine.with_bank_program(bank.variant_program(name, n)), mine, failure.reference
        )
        for name in possible
        for n in range(len(mine.question.variants[name]))
    ]


def suspected_programs(failure: Failure) -> list[tuple[str, str, RemoteProgram]]:
    """The variants of every idea that a failing check claims and that none has ruled out.

    Each has its name and the first sentence of its feedback.
    """
    ideas = failure.submission_evaluation.question.ideas
    return [
        (
            idea.name,
            f'"{_FIRST.split(_feedback(idea), maxsplit=1)[0]}"',
            idea.evaluation.submission,
        )
        for idea in _possible(failure)
        if not failure.failed_checks.isdisjoint(ideas[idea.name].killed_by)
    ]


def _ask(failure: Failure, ideas: Iterable[IdeaVariant], cells: Iterable[ResultCell]) -> None:
    """Have all ideas run the small cases of some cells, in few requests."""
    cases: dict[str, dict[str, None]] = {}
    for c, case in cells:
        if c.measured_by is None:
            cases.setdefault(c.run, {})[case] = None
    programs = [idea.evaluation.submission for idea in ideas]
    for run, names in cases.items():
        failure.submission_evaluation.prefetch(
            programs, run, [failure.submission_evaluation.cases[name] for name in names]
        )


def _to_named(failure: Failure, match: Match) -> IdeaMatch:
    """What a report says of an idea."""
    idea = failure.submission_evaluation.question.ideas[match.idea_variant.name]
    every = failure.failing_cells
    if match.explains_values:  # an idea about results need not explain what is measured
        every = [cell for cell in every if cell[0].measured_by is None]
    # A case in which another result is wrong as well is not explained exactly.
    others = _cases(set(every) - set(match.explained_cells)) if match.is_exact else set()
    seen = [
        case
        for case in dict.fromkeys(case for _, case in match.explained_cells)
        if case not in others
    ]
    return IdeaMatch(
        id=match.idea_variant.name,
        feedback=_feedback(match.idea_variant),
        exact=match.is_exact and not match.doubt,
        doubt=match.doubt,
        results=tuple(dict.fromkeys(c.name for c, _ in match.explained_cells)),
        cases=len(seen),
        failing=len(_cases(every)),
        seen=tuple(seen),
        checks=tuple(
            c.id for c in failure.checks if c.id in failure.failed_checks & set(idea.killed_by)
        ),
        rounded=any(c.relative_rounding or c.compares_in_float32 for c, _ in match.explained_cells)
        or not all(map(match.idea_variant.equals_exactly, match.explained_cells)),
    )


def _feedback(idea: IdeaVariant) -> str:
    """What is said to who holds an idea, with the values of its parameters in the variant."""
    about = idea.submission_evaluation.question.ideas[idea.name]
    setting = about.parameter_combinations[idea.index % len(about.parameter_combinations)]
    words = {
        name: f"{value:g}".replace("e-0", "e-") if isinstance(value, float) else str(value)
        for name, value in setting.items()
    }
    return about.feedback_for(words)


def _cases(cells: Iterable[ResultCell]) -> set[str]:
    return {case for _, case in cells}


# -- exactly --------------------------------------------------------------------------------------


def _exactly(failure: Failure, ideas: Sequence[IdeaVariant]) -> Iterator[Match]:
    """The matches of ideas that nothing contradicts and that explain anything."""
    values = [cell for cell in failure.failing_cells if cell[0].measured_by is None]
    measured = [
        c
        for c in failure.failing_cells
        if c[0].measured_by is not None and not c[0].varies_with_style
    ]
    # Most ideas are ruled out by what is wrong, or by one case of each result.
    firsts = values or [(c, c.cases[0]) for c in failure.value_components if c.cases]
    acts = _uncontradicted(failure, ideas, firsts)
    left = [idea for idea in acts if acts[idea] or measured]
    # What is measured takes longest, and is left to the last.
    for idea, elsewhere in _uncontradicted(failure, left, failure.value_cells).items():
        if not acts[idea] and not all(_measures_alike(idea, cell) for cell in measured[:1]):
            continue
        if not elsewhere:  # the results are those of the reference
            elsewhere = _as_measured(failure, idea)
        else:  # what follows from the results confirms the idea, and does not contradict it
            elsewhere.update(cell for cell in measured if idea.explains(cell))
        explained = tuple(cell for cell in failure.failing_cells if cell in elsewhere)
        # Who keeps the same results, and something else with them, does not do just this.
        exact = all(
            cell[0].measured_by is None or idea.equals_submission(cell) for cell in explained
        )
        if explained:
            yield Match(idea, frozenset(elsewhere), explained, exact)


def _uncontradicted(
    failure: Failure, ideas: Iterable[IdeaVariant], cells: Iterable[ResultCell]
) -> dict[IdeaVariant, set[ResultCell]]:
    """By idea the cells on which it acts; without the ideas that the submission contradicts."""
    acts: dict[IdeaVariant, set[ResultCell]] = {idea: set() for idea in ideas}
    left, size = list(cells), FIRST_BATCH_CELLS
    while left and acts:
        portion, left, size = left[:size], left[size:], 2 * size
        _ask(failure, acts, portion)
        for idea, known in list(acts.items()):
            for cell in filter(idea.changes_cell, portion):
                if idea.equals_submission(cell):
                    known.add(cell)
                elif not (
                    failure.has_no_result(cell)
                    or (failure.lenient and failure.is_unrelated_to_failures(cell))
                ):
                    del acts[idea]
                    break
    return acts


def _as_measured(failure: Failure, idea: IdeaVariant) -> set[ResultCell]:
    """The measures on which an idea acts; none where the submission's are others, or too few."""
    acts: set[ResultCell] = set()
    says_what = False  # and not only how much
    measured = (
        c for c in failure.all_components if c.measured_by is not None and not c.varies_with_style
    )
    for cell in ((c, case) for c in measured for case in c.cases):
        if not _measures_alike(idea, cell):
            return set()
        if idea.changes_cell(cell):
            acts.add(cell)
            other, right = (
                observe_component(idea.evaluation, *cell),
                observe_component(idea.reference, *cell),
            )
            counts = isinstance(other, Count) and isinstance(right, Count)
            says_what |= not counts or (other.kept is not None and other.kept != right.kept)
    return acts if says_what else set()


def _measures_alike(idea: IdeaVariant, cell: ResultCell) -> bool:
    """Whether two programs keep or cost the same, whatever else one of them keeps for itself."""
    seen = [
        observe_component(one, *cell)
        for one in (idea.submission_evaluation, idea.evaluation, idea.reference)
    ]
    if all(isinstance(one, Count) and one.kept is not None for one in seen):
        # What is an input or a result of the run, and more than the reference keeps.
        mine, other, right = ({n for n in one.kept if not n.startswith("other ")} for one in seen)
        if more := other - right:
            return bool(mine - right == more)
    return idea.equals_submission(cell)


# -- in part --------------------------------------------------------------------------------------


def _in_part(failure: Failure, ideas: Sequence[IdeaVariant]) -> Iterator[Match]:
    """The matches of ideas with a whole result, wherever else one acts being wrong too."""
    evidence: dict[Component, list[ResultCell]] = {}
    for cell in failure.failing_cells:
        if cell[0].measured_by is None:
            evidence.setdefault(cell[0], []).append(cell)
    _ask(failure, ideas, [cells[0] for cells in evidence.values()])
    for idea in ideas:
        whole = [c for c, cells in evidence.items() if all(map(idea.explains, cells))]
        explained = tuple(cell for c in whole for cell in evidence[c])
        if (
            len(_cases(explained)) < MIN_PARTIAL_CASES
            or len(failure.telling_numbers(explained)) < MIN_DISTINCT_NUMBERS
        ):
            continue
        half = _half(failure, idea)
        if half is not None and not any(
            cell[0] in whole for cell in half.changed_cells - half.equal_cells
        ):
            yield Match(idea, half.changed_cells, explained, is_exact=False)


@dataclass(frozen=True)
class PartialMatch:
    """An idea that acts nowhere where the submission is right."""

    idea_variant: IdeaVariant
    changed_cells: frozenset[ResultCell]
    equal_cells: frozenset[ResultCell]  # of those


def _half(failure: Failure, idea: IdeaVariant) -> PartialMatch | None:
    """What an idea does where results are wrong; None where it acts on what is right."""
    _ask(failure, [idea], failure.value_cells)
    acts = set()
    for cell in filter(idea.changes_cell, failure.value_cells):
        if cell not in failure.wrong_cells:
            return None
        acts.add(cell)
    return PartialMatch(idea, frozenset(acts), frozenset(filter(idea.equals_submission, acts)))


# -- which of those that fit ----------------------------------------------------------------------


def _best_per_idea(matches: Iterable[Match]) -> list[Match]:
    """Of each idea the match that explains most; none that another one's is more than."""
    best: dict[str, Match] = {}
    for match in matches:
        known = best.get(match.idea_variant.name)
        if known is None or (len(match.changed_cells), match.is_exact) > (
            len(known.changed_cells),
            known.is_exact,
        ):
            best[match.idea_variant.name] = match
    found = list(best.values())
    return [
        match
        for match in found
        if not any(match.changed_cells < other.changed_cells for other in found)
    ]


def _distinct(matches: Sequence[Match]) -> list[Match]:
    """Without those that act where another idea does: nothing can tell which of them it is."""
    acts = [match.changed_cells for match in matches]
    return [match for match in matches if acts.count(match.changed_cells) == 1]


def _explaining_most(failure: Failure, matches: Sequence[Match]) -> list[Match]:
    """Those that explain all that is wrong together, or each most of it, or a whole check."""
    if {cell for match in matches for cell in match.explained_cells} >= set(failure.failing_cells):
        return list(matches)
    results = _cases(cell for cell in failure.failing_cells if cell[0].measured_by is None)
    every = _cases(failure.failing_cells)

    def is_whole_check(match: Match, check: str) -> bool:
        of_check = {(c, case) for c, case in failure.failing_cells if check in c.checks[case]}
        return bool(of_check) and of_check <= set(match.explained_cells)

    found = []
    for match in matches:
        if all(
            isinstance(observe_component(failure.reference, *cell), bool)
            for cell in match.explained_cells
        ):
            continue  # True is soon the same as True
        # An idea about results need not explain what is measured.
        share = len(_cases(match.explained_cells)) / len(
            results if match.explains_values else every
        )
        killers = failure.submission_evaluation.question.ideas[match.idea_variant.name].killed_by
        if share > 0.5 or any(
            is_whole_check(match, c) for c in killers if c in failure.failed_checks
        ):
            found.append(match)
    return found


def _contradiction(failure: Failure, match: Match) -> str:
    """Return a clause on a further input that contradicts an idea; empty if there is none.

    A size of 2 makes a half of a mean.  Numbers that a person has written are about one input: no
    other can contradict them.
    """
    program, explained = match.idea_variant.evaluation.submission, match.explained_cells
    computed = dict.fromkeys(
        c for c, _ in explained if c.measured_by is None and not c.relative_rounding
    )
    further = extra_cases(failure.submission_evaluation)
    reference = further.evaluation
    submission = replace(failure.submission_evaluation.submission, call_seconds=EXTRA_CALL_SECONDS)
    mine, theirs = (
        reference.with_submission(submission, EXTRA_SEED),
        reference.with_bank_program(program),
    )
    idea = replace(
        match.idea_variant, evaluation=theirs, submission_evaluation=mine, reference=reference
    )
    with contextlib.suppress(WorkerError, BankProgramError):
        for run in dict.fromkeys(c.run for c in computed):
            origins = dict.fromkeys(case for c, case in explained if c.run == run)
            each = max(1, min(EXTRA_INPUTS_PER_CASE, MAX_EXTRA_INPUTS // len(origins)))
            made = further.made_for(run, dict.fromkeys(origins, each))
            cases = [case for case, _ in made]
            reference.prefetch([program], run, cases)
            mine.prefetch([mine.submission], run, cases)
            for case, origin in made:
                cells = [(c, case.name) for c in computed if c.run == run]
                contradicts = any(_contradicts(idea, cell) for cell in cells)
                if contradicts and _is_covered(failure, further, mine, run, case):
                    before = describe_inputs(
                        failure.submission_evaluation,
                        failure.submission_evaluation.cases[origin],
                        run,
                    )
                    now = describe_inputs(reference, case, run)
                    new = {name: words for name, words in now.items() if before.get(name) != words}
                    return f"but not in {origin} with {join_inputs(new) or 'other numbers'}"
    return ""


def _contradicts(idea: IdeaVariant, cell: ResultCell) -> bool:
    """Return True if an idea acts on a further input, and the submission shows another one."""
    return (
        idea.changes_cell(cell)
        and not is_fault(observe_component(idea.submission_evaluation, *cell))
        and not idea.equals_submission(cell)
    )


def _is_covered(
    failure: Failure, further: ExtraCases, mine: Evaluation, run: str, case: CaseRecipe
) -> bool:
    """Return True if the contract covers a further input, as far as it can be seen.

    It does not if the submission gets a result wrong there that is right in all cases of the
    question, or if an accepted solution differs from the reference.
    """
    wrong = {c.name for c, _ in failure.wrong_cells}
    right = {c.name for c in failure.value_components if c.run == run} - wrong
    outcome = mine.submission_outcome(run, case)
    if any(find_mismatch(mine, run, case, name, outcome) for name in sorted(right)):
        return False
    return not further.is_disputed(run, case, failure.based_on_accepted)


# -- two at once ----------------------------------------------------------------------------------


def find_pair(failure: Failure) -> tuple[tuple[IdeaMatch, ...], Explanation] | None:
    """The two ideas that explain everything that is wrong together, if there are just two."""
    wrong = [
        c for c in failure.value_cells if c in failure.wrong_cells and not failure.has_no_result(c)
    ]
    composed, found = 0, dict[frozenset[str], tuple[PartialMatch, PartialMatch]]()
    for one, other in _candidates(failure, wrong):
        names = frozenset({one.idea_variant.name, other.idea_variant.name})
        if len(names) == 1 or names in found or not _fit_together(one, other, set(wrong)):
            continue
        both = one.changed_cells & other.changed_cells
        sure = not both
        if both and composed < MAX_LAYERED_PROGRAMS:
            composed += 1
            sure = _is_composed(failure, one.idea_variant, other.idea_variant, wrong)
        if sure or all(_is_seen_alone(failure, half, both) for half in (one, other)):
            found[names] = one, other
    if len(found) != 1:  # several pairs that fit are none
        return None
    ((one, other),) = found.values()
    named = []
    for half, rest in ((one, other), (other, one)):
        alone = (
            half.changed_cells - rest.changed_cells or half.changed_cells
        )  # what it explains, without the other
        explained = tuple(cell for cell in failure.failing_cells if cell in alone)
        named.append(
            _to_named(
                failure, Match(half.idea_variant, half.changed_cells, explained, is_exact=False)
            )
        )
    values = [(c, case) for c, case in failure.failing_cells if c.measured_by is None]
    what = "everything" if len(values) == len(failure.failing_cells) else "every result"
    text = f"Two ideas at once, {one.idea_variant.name} and {other.idea_variant.name}, explain {what} that is wrong."
    return tuple(named), Explanation("pair", text, tuple(dict.fromkeys(case for _, case in values)))


def _candidates(
    failure: Failure, wrong: Sequence[ResultCell]
) -> Iterator[tuple[PartialMatch, PartialMatch]]:
    """Two ideas that may explain the evidence: one fits some of it, the other acts on the rest.

    What is looked at first rules most of them out.
    """
    everything, tried = set(wrong), set[frozenset[IdeaVariant]]()
    evidence = [cell for cell in failure.failing_cells if cell in everything]
    ideas = _possible(failure)

    @functools.cache
    def half_of(idea: IdeaVariant) -> PartialMatch | None:
        half = _half(failure, idea)
        if half is None or not half.changed_cells & everything:
            return None
        return replace(
            half,
            changed_cells=half.changed_cells & everything,
            equal_cells=half.equal_cells & everything,
        )

    for idea in ideas:
        if not any(map(idea.explains, evidence)) or (one := half_of(idea)) is None:
            continue
        rest = [cell for cell in evidence if cell not in one.equal_cells] or evidence[:1]
        for another in ideas:
            key = frozenset({idea, another})
            if key not in tried and all(map(another.changes_cell, rest)):
                tried.add(key)
                if (other := half_of(another)) is not None:
                    yield one, other


def _fit_together(one: PartialMatch, other: PartialMatch, wrong: set[ResultCell]) -> bool:
    """Whether each is what is wrong wherever it acts alone, no place being without either.

    Where one of them is all that is wrong by itself, the other explains nothing.
    """
    return (
        not (one.equal_cells >= wrong or other.equal_cells >= wrong)
        and one.changed_cells | other.changed_cells == wrong
        and one.changed_cells - other.changed_cells <= one.equal_cells
        and other.changed_cells - one.changed_cells <= other.equal_cells
    )


def _is_composed(
    failure: Failure, one: IdeaVariant, other: IdeaVariant, wrong: Sequence[ResultCell]
) -> bool:
    """Whether both programs, one on top of the other, compute what the submission does."""
    bank = failure.submission_evaluation.bank
    assert bank is not None, "no session gives this evaluation its misconceptions"
    for lower, upper in ((one, other), (other, one)):
        try:
            program = bank.layered_program(((lower.name, lower.index), (upper.name, upper.index)))
        except BankProgramError:  # one does not stand on top of the other
            continue
        both = failure.submission_evaluation.with_bank_program(program)
        if all(same_in_cell(failure.submission_evaluation, both, *cell) for cell in wrong):
            return True
    return False


def _is_seen_alone(failure: Failure, half: PartialMatch, both: frozenset[ResultCell]) -> bool:
    """Whether an idea explains enough where the other does not act."""
    alone = half.changed_cells - both
    return (
        len(_cases(alone)) >= MIN_CASES_ALONE
        and len(failure.telling_numbers(alone)) >= MIN_DISTINCT_NUMBERS
        and len(alone) >= len(half.changed_cells) / 2
    )
