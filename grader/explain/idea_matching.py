"""Name the wrong ideas behind a submission by its results, never by how its code looks.

An idea is a known mistake with feedback; its *variants* are programs that make it.  Every variant
runs on the same inputs as the submission.  A variant *changes* a cell (a component, such as the
values of a result, on one case) if it differs from the reference there.  There are two ways to
match, apart from the pairs of `idea_pairs.py`:

- Exact match: the submission equals a variant in every cell that the variant changes, and the idea
  explains most of the evidence.
- Partial match: the submission equals the variant in one result on every case.  Wherever else the
  variant changes a result, the submission is wrong too, but differently ("your y is ...").

An idea is not named if a check that should catch it has passed, or if it changes a cell in which
the submission is right.  A skipped check can rule out an idea but never suggests one.  The same
is true of a number of bytes or operations; a list of the tensors that a program keeps is evidence.

An idea is *doubtful* if another idea gives the same results, or if an extra input contradicts it.
If every match is doubtful, the ones that explain everything are named together with the doubt.  An
extra input that the contract does not cover contradicts nothing, because right programs differ
there.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from grader import forms
from grader.cases.recipe import CaseRecipe
from grader.explain.components import (
    Component,
    FailedGrade,
    ResultCell,
    is_fault,
    is_within_tolerance,
    observe_component,
    same_in_cell,
)
from grader.explain.extra_cases import EXTRA_SEED, extra_cases, share_evenly
from grader.grading.bank_errors import BankProgramError
from grader.grading.case_by_case import describe_inputs, join_inputs
from grader.grading.compare import find_mismatch
from grader.grading.evaluation import Evaluation
from grader.grading.kinds.base import Count
from grader.model.limits import EXTRA_CALL_SECONDS
from grader.model.number_format import join_words
from grader.model.report import IdeaMatch
from grader.sandbox.client import WorkerError
from grader.sandbox.remote_program import RemoteProgram

FIRST_BATCH_CELLS = 3  # cells that are compared first; each next batch is twice as large

# An idea that changes fewer cases is tried on extra inputs: it may match only by their sizes.
CASES_WITHOUT_EXTRA_INPUTS = 6
EXTRA_INPUTS_PER_CASE = 4
MAX_EXTRA_INPUTS = 24

# A partial match needs this much.  One number alone is always some multiple of another.
MIN_PARTIAL_CASES = 3
MIN_DISTINCT_NUMBERS = 3

_SENTENCE_END = re.compile(r"(?<=[.!?])\s")


@dataclass(frozen=True, slots=True, eq=False)
class IdeaVariant:
    """One variant of an idea, with the programs to compare it with."""

    name: str  # of the idea
    index: int  # of the variant
    evaluation: Evaluation
    submission_evaluation: Evaluation
    reference: Evaluation

    def changes_cell(self, cell: ResultCell) -> bool:
        """Return True if the variant differs from the reference in this cell."""

        def differs() -> bool:
            return not same_in_cell(self.reference, self.evaluation, *cell)

        key = ("changes", *cell)
        return self.evaluation.remember(key, differs, self.evaluation.subject)

    def equals_submission(self, cell: ResultCell) -> bool:
        """Return True if the variant equals the submission, up to the tolerance of the checks."""
        if self.equals_exactly(cell):
            return True
        return is_within_tolerance(
            self.submission_evaluation, self.evaluation, self.reference, *cell
        )

    def equals_exactly(self, cell: ResultCell) -> bool:
        """Return True if the variant equals the submission up to rounding, without tolerance."""
        return same_in_cell(self.submission_evaluation, self.evaluation, *cell)

    def explains(self, cell: ResultCell) -> bool:
        """Return True if the variant changes this cell just as the submission does."""
        return self.changes_cell(cell) and self.equals_submission(cell)


@dataclass(frozen=True, slots=True)
class Match:
    """A variant that explains failing cells of the submission, with these cells."""

    idea_variant: IdeaVariant
    changed_cells: frozenset[ResultCell]  # in which the variant differs from the reference
    explained_cells: tuple[ResultCell, ...]  # of the evidence
    is_exact: bool = True
    doubt: str = ""  # a clause on why the idea is not certain: "but so does scale-twice"


@dataclass(frozen=True, slots=True)
class PartialMatch:
    """A variant that changes only cells in which the submission is wrong, maybe differently."""

    idea_variant: IdeaVariant
    changed_cells: frozenset[ResultCell]
    equal_cells: frozenset[ResultCell]  # changed cells in which it equals the submission


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """The ideas that match a submission: certain ones, or only doubtful ones."""

    matches: tuple[IdeaMatch, ...] = ()
    ambiguous_ideas: frozenset[str] = frozenset()  # matching ideas that change the same cells
    compares_in_float32: bool = False  # found only in float32, or nothing certain was found


def diagnose(grade: FailedGrade) -> Diagnosis:
    """Name the ideas that explain the results of a submission.

    These ways are tried in order, until one finds a certain idea:

    1. Exact matches; if there are none, partial matches.
    2. The same with results compared in float32: rounding may hide an idea.
    3. Exact matches that explain everything, with a lenient comparison (see `is_ignored`): the
       submission may have some lines twice, and the mistake in one place only.  Not for text forms.

    If none does, the doubtful ideas of the first way that explain everything are named, with the
    doubt.  If the submission's process has died, only the results before that count.
    """
    question = grade.submission_evaluation.question
    if not question.variants or not grade.failed_checks or not grade.failing_cells:
        return Diagnosis()
    diagnosis, doubtful = _match_ideas(grade)
    if diagnosis.matches:
        return diagnosis
    # Rounding may hide an idea, and so may code that the submission has in two places.
    other_ways = [replace(grade, compares_in_float32=True)]
    if not forms.form_of(question.spec).is_text:
        other_ways.append(replace(grade, lenient=True))
    for other_way in other_ways:
        diagnosis, _ = _match_ideas(other_way)
        if diagnosis.matches:
            return diagnosis
    entries = tuple(report_entry(grade, match) for match in doubtful)
    return replace(diagnosis, matches=entries, compares_in_float32=True)


def _match_ideas(grade: FailedGrade) -> tuple[Diagnosis, list[Match]]:
    """Return the certain ideas, and the matches that explain everything but are in doubt."""
    variants = possible_variants(grade)
    exact = _exact_matches(grade, variants)
    if grade.lenient:
        exact = (match for match in exact if _explains_everything(grade, match))
    best = _best_per_idea(exact)
    distinct = _distinct(best)
    candidates = _explaining_most(grade, distinct)
    if not best and not grade.lenient:
        candidates = _distinct(_best_per_idea(_partial_matches(grade, variants)))

    certain = []
    doubtful = []
    for match in candidates:
        doubt = ""
        if len(case_names(match.changed_cells)) < CASES_WITHOUT_EXTRA_INPUTS:
            doubt = _find_contradiction(grade, match)
        if doubt:
            doubtful.append(replace(match, doubt=doubt))
        else:
            certain.append(match)
    ambiguous = [match for match in best if match not in distinct]
    for match in ambiguous:
        others = [
            other.idea_variant.name
            for other in ambiguous
            if other is not match and other.changed_cells == match.changed_cells
        ]
        doubtful.append(replace(match, doubt=f"but so does {join_words(others)}"))
    diagnosis = Diagnosis(
        matches=tuple(report_entry(grade, match) for match in certain),
        ambiguous_ideas=frozenset(match.idea_variant.name for match in ambiguous),
        compares_in_float32=grade.compares_in_float32,
    )
    return diagnosis, [match for match in doubtful if _explains_everything(grade, match)]


def _explains_everything(grade: FailedGrade, match: Match) -> bool:
    """Return True if an idea gives exactly the results of every failing case.

    Measures do not count, but some result must be wrong.
    """
    values = set(grade.failing_value_cells)
    return match.is_exact and bool(values) and values <= set(match.explained_cells)


def possible_variants(grade: FailedGrade) -> list[IdeaVariant]:
    """Return the variants of every idea that no passing check rules out.

    `killed_by` of an idea lists the checks that catch it.  An idea of a later part passes all
    checks that were asked, so it explains no failure and is left out.
    """
    submission = grade.submission_evaluation
    question = submission.question
    bank = submission.bank
    assert bank is not None, "no session gives this evaluation its misconceptions"
    asked = {check.id for check in submission.checks}
    variants = []
    for name, sources in question.variants.items():
        killed_by = question.ideas[name].killed_by
        if not grade.passed_checks.isdisjoint(killed_by):
            continue
        if not asked.issuperset(killed_by[:1]):
            continue
        for index, _ in enumerate(sources):
            evaluation = submission.with_bank_program(bank.variant_program(name, index))
            variants.append(IdeaVariant(name, index, evaluation, submission, grade.reference))
    return variants


def suspected_programs(grade: FailedGrade) -> list[tuple[str, str, RemoteProgram]]:
    """Return the variants of every idea that a failing check should catch.

    Ideas that a passing check rules out are left out.  Each entry has the name of the idea, the
    first sentence of its feedback in quotes, and the program.
    """
    ideas = grade.submission_evaluation.question.ideas
    programs = []
    for variant in possible_variants(grade):
        if grade.failed_checks.isdisjoint(ideas[variant.name].killed_by):
            continue
        sentence = _SENTENCE_END.split(_feedback(variant), maxsplit=1)[0]
        programs.append((variant.name, f'"{sentence}"', variant.evaluation.subject))
    return programs


def _prefetch(
    grade: FailedGrade, variants: Iterable[IdeaVariant], cells: Iterable[ResultCell]
) -> None:
    """Run all variants on the cases of these cells, in few requests; the results are remembered."""
    cases_by_run: dict[str, dict[str, None]] = {}
    for component, case in cells:
        if not component.is_measure:
            cases_by_run.setdefault(component.run, {})[case] = None
    programs = [variant.evaluation.subject for variant in variants]
    submission = grade.submission_evaluation
    for run, names in cases_by_run.items():
        submission.prefetch(programs, run, [submission.cases[name] for name in names])


def report_entry(grade: FailedGrade, match: Match) -> IdeaMatch:
    """Return a match as the report has it: feedback, doubt, and the cases that it explains."""
    variant = match.idea_variant
    killed_by = grade.submission_evaluation.question.ideas[variant.name].killed_by
    evidence = _evidence_for(grade, match)
    explained_cases = dict.fromkeys(case for _, case in match.explained_cells)
    if match.is_exact:  # a case with another wrong result is not explained
        for case in case_names(set(evidence) - set(match.explained_cells)):
            explained_cases.pop(case, None)
    catching = grade.failed_checks & set(killed_by)
    is_rounded = any(
        component.relative_rounding or component.compares_in_float32
        for component, _ in match.explained_cells
    )
    return IdeaMatch(
        id=variant.name,
        feedback=_feedback(variant),
        exact=match.is_exact and not match.doubt,
        doubt=match.doubt,
        results=tuple(dict.fromkeys(component.name for component, _ in match.explained_cells)),
        cases=len(explained_cases),
        failing=len(case_names(evidence)),
        seen=tuple(explained_cases),
        checks=tuple(check.id for check in grade.checks if check.id in catching),
        rounded=is_rounded or not all(map(variant.equals_exactly, match.explained_cells)),
    )


def _evidence_for(grade: FailedGrade, match: Match) -> list[ResultCell]:
    """Return the evidence that a match should explain: no measures if it explains results."""
    if all(component.is_measure for component, _ in match.explained_cells):
        return grade.failing_cells
    return grade.failing_value_cells


def _feedback(variant: IdeaVariant) -> str:
    """Return the feedback of an idea, with the parameter values of this variant."""
    idea = variant.submission_evaluation.question.ideas[variant.name]
    parameters = idea.parameter_combinations[variant.index % len(idea.parameter_combinations)]
    texts = {}
    for name, value in parameters.items():
        texts[name] = str(value)
        if isinstance(value, float):
            texts[name] = f"{value:g}".replace("e-0", "e-")
    return idea.feedback_for(texts)


def case_names(cells: Iterable[ResultCell]) -> set[str]:
    """Return the names of the cases of some cells."""
    return {case for _, case in cells}


# -- exact matches --------------------------------------------------------------------------------


def _exact_matches(grade: FailedGrade, variants: Sequence[IdeaVariant]) -> Iterator[Match]:
    """Yield a match for each variant that no cell contradicts and that explains some evidence.

    Its `is_exact` is False if an explained measure differs from the submission's: the submission
    keeps the same inputs and results as the variant, but other tensors.
    """
    measured_evidence = [
        cell for cell in grade.failing_cells if cell[0].is_measure and not cell[0].varies_with_style
    ]

    # Most variants are ruled out by the evidence, or by the first case of each result.
    first_cells = grade.failing_value_cells
    if not first_cells:
        first_cells = [(value, value.cases[0]) for value in grade.value_components]
    changed_first = _uncontradicted(grade, variants, first_cells)
    remaining = [v for v, changed in changed_first.items() if changed or measured_evidence]

    # Measuring is slowest and comes last.
    for variant, changed in _uncontradicted(grade, remaining, grade.value_cells).items():
        # If a variant changes no result, one measure shows if it is worth taking the others.
        if not changed_first[variant] and not _has_same_measure(variant, measured_evidence[0]):
            continue
        if changed:
            # Measures that follow from the results confirm an idea and cannot rule it out.
            changed.update(cell for cell in measured_evidence if variant.explains(cell))
        else:  # the results equal the reference's, so only measures can tell
            changed = _changed_measures(grade, variant)
        explained = tuple(cell for cell in grade.failing_cells if cell in changed)
        # A submission that keeps other tensors as well does not match exactly.
        is_exact = all(
            not cell[0].is_measure or variant.equals_submission(cell) for cell in explained
        )
        if explained:
            yield Match(variant, frozenset(changed), explained, is_exact)


def _uncontradicted(
    grade: FailedGrade, variants: Iterable[IdeaVariant], cells: Sequence[ResultCell]
) -> dict[IdeaVariant, set[ResultCell]]:
    """Return the variants that are still possible, each with the cells that it explains.

    A variant that changes one of `cells`, but not as the submission does, is ruled out, unless the
    cell `is_ignored`.
    """
    changed: dict[IdeaVariant, set[ResultCell]] = {variant: set() for variant in variants}
    start = 0
    size = FIRST_BATCH_CELLS
    while start < len(cells) and changed:
        batch = cells[start : start + size]
        start += size
        size *= 2
        _prefetch(grade, changed, batch)
        for variant in list(changed):
            for cell in batch:
                if not variant.changes_cell(cell):
                    continue
                if variant.equals_submission(cell):
                    changed[variant].add(cell)
                elif not grade.is_ignored(cell):
                    del changed[variant]
                    break
    return changed


def _changed_measures(grade: FailedGrade, variant: IdeaVariant) -> set[ResultCell]:
    """Return the measures that a variant changes as the submission does.

    Returns an empty set if the submission differs from the variant in any measure, or if the
    variant changes only amounts, such as a number of bytes: an amount alone proves too little.
    """
    changed: set[ResultCell] = set()
    tells_more_than_amount = False
    for component in grade.all_components:
        if not component.is_measure or component.varies_with_style:
            continue
        for case in component.cases:
            cell = (component, case)
            if not _has_same_measure(variant, cell):
                return set()
            if variant.changes_cell(cell):
                changed.add(cell)
                tells_more_than_amount |= not _differs_in_amount_only(variant, cell)
    return changed if tells_more_than_amount else set()


def _differs_in_amount_only(variant: IdeaVariant, cell: ResultCell) -> bool:
    """Return True if only an amount differs: the same tensors are kept, as far as known."""
    actual = observe_component(variant.evaluation, *cell)
    expected = observe_component(variant.reference, *cell)
    if not isinstance(actual, Count) or not isinstance(expected, Count):
        return False
    return actual.kept is None or actual.kept == expected.kept


def _has_same_measure(variant: IdeaVariant, cell: ResultCell) -> bool:
    """Return True if the submission keeps or costs as much as the variant.

    If the variant keeps inputs or results that the reference does not keep, the submission must
    keep exactly these too; its other tensors do not matter.
    """
    evaluations = (variant.submission_evaluation, variant.evaluation, variant.reference)
    measures = [observe_component(evaluation, *cell) for evaluation in evaluations]
    if all(isinstance(measure, Count) and measure.kept is not None for measure in measures):
        by_submission, by_variant, by_reference = (_kept_by_name(measure) for measure in measures)
        too_many = by_variant - by_reference
        if too_many:
            return by_submission - by_reference == too_many
    return variant.equals_submission(cell)


def _kept_by_name(measure: Count) -> set[str]:
    """Return the names of the inputs and results that a program keeps, without other tensors."""
    return {name for name in measure.kept or () if not name.startswith("other ")}


# -- partial matches ------------------------------------------------------------------------------


def _partial_matches(grade: FailedGrade, variants: Sequence[IdeaVariant]) -> Iterator[Match]:
    """Yield the variants that explain all wrong cases of at least one result.

    At least three cases and three different numbers must be explained.  A variant that changes a
    right cell, or an explained result in another way, does not match.
    """
    evidence: dict[Component, list[ResultCell]] = {}
    for cell in grade.failing_value_cells:
        evidence.setdefault(cell[0], []).append(cell)
    _prefetch(grade, variants, [cells[0] for cells in evidence.values()])

    for variant in variants:
        explained_results = set()
        explained: list[ResultCell] = []
        for component, cells in evidence.items():
            if all(variant.explains(cell) for cell in cells):
                explained_results.add(component)
                explained += cells
        if len(case_names(explained)) < MIN_PARTIAL_CASES:
            continue
        if len(grade.telling_numbers(explained)) < MIN_DISTINCT_NUMBERS:
            continue
        partial = match_partially(grade, variant)
        if partial is None:
            continue
        differing = partial.changed_cells - partial.equal_cells
        if not any(component in explained_results for component, _ in differing):
            yield Match(variant, partial.changed_cells, tuple(explained), is_exact=False)


def match_partially(grade: FailedGrade, variant: IdeaVariant) -> PartialMatch | None:
    """Return which cells a variant changes, and in which of them it equals the submission.

    Returns None if it changes a cell in which the submission is right.
    """
    _prefetch(grade, [variant], grade.value_cells)
    changed = set()
    for cell in grade.value_cells:
        if not variant.changes_cell(cell):
            continue
        if cell not in grade.wrong_cells:
            return None
        changed.add(cell)
    equal = frozenset(cell for cell in changed if variant.equals_submission(cell))
    return PartialMatch(variant, frozenset(changed), equal)


# -- choose among the matches ---------------------------------------------------------------------


def _best_per_idea(matches: Iterable[Match]) -> list[Match]:
    """Keep the best match of each idea, unless another idea changes the same cells and more.

    Of two variants, the one that changes more is the better match.
    """
    best: dict[str, Match] = {}
    for match in matches:
        name = match.idea_variant.name
        pair = (best.get(name, match), match)
        best[name] = max(pair, key=lambda m: (len(m.changed_cells), m.is_exact))
    changed = [match.changed_cells for match in best.values()]
    kept = []
    for match in best.values():
        if not any(match.changed_cells < other for other in changed):
            kept.append(match)
    return kept


def _distinct(matches: Sequence[Match]) -> list[Match]:
    """Drop matches that change the same cells as another one: no result can tell them apart."""
    changed = [match.changed_cells for match in matches]
    return [match for match in matches if changed.count(match.changed_cells) == 1]


def _explaining_most(grade: FailedGrade, matches: Sequence[Match]) -> list[Match]:
    """Keep all matches if together they explain everything; else those that explain enough."""
    explained = {cell for match in matches for cell in match.explained_cells}
    if explained >= set(grade.failing_cells):
        return list(matches)
    return [match for match in matches if _explains_enough(grade, match)]


def _explains_enough(grade: FailedGrade, match: Match) -> bool:
    """Return True if a match explains more than half of the failing cases, or all of a check.

    A match that explains only truth values never explains enough.
    """
    if all(
        isinstance(observe_component(grade.reference, *cell), bool)
        for cell in match.explained_cells
    ):
        return False  # two truth values are too easily equal
    evidence = _evidence_for(grade, match)
    if len(case_names(match.explained_cells)) / len(case_names(evidence)) > 0.5:
        return True
    idea = grade.submission_evaluation.question.ideas[match.idea_variant.name]
    for check in grade.failed_checks.intersection(idea.killed_by):
        of_check = set()
        for component, case in grade.failing_cells:
            if check in component.checks[case]:
                of_check.add((component, case))
        if of_check and of_check <= set(match.explained_cells):
            return True
    return False


# -- extra inputs ---------------------------------------------------------------------------------


def _find_contradiction(grade: FailedGrade, match: Match) -> str:
    """Return a clause such as "but not in small with n = 3", or "" if no extra input contradicts.

    With a size of 2, a half looks like a mean.  Numbers that a person wrote are about one input, so
    no other input can contradict them.
    """
    submission = grade.submission_evaluation
    extra = extra_cases(submission)
    limited = replace(submission.subject, call_seconds=EXTRA_CALL_SECONDS)
    variant = replace(
        match.idea_variant,
        submission_evaluation=extra.evaluation.with_subject(limited, EXTRA_SEED),
        evaluation=extra.evaluation.with_bank_program(match.idea_variant.evaluation.subject),
        reference=extra.evaluation,
    )
    cells_by_run: dict[str, list[ResultCell]] = {}
    for cell in match.explained_cells:
        cells_by_run.setdefault(cell[0].run, []).append(cell)
    with contextlib.suppress(WorkerError, BankProgramError):
        for run, cells in cells_by_run.items():
            components = {c for c, _ in cells if not c.is_measure and not c.relative_rounding}
            if not components:
                continue
            origins = dict.fromkeys(case for _, case in cells)
            counts = share_evenly(origins, EXTRA_INPUTS_PER_CASE, MAX_EXTRA_INPUTS)
            cases = extra.made_for(run, counts)
            for evaluation in (variant.evaluation, variant.submission_evaluation):
                evaluation.prefetch([evaluation.subject], run, cases)
            for case in cases:
                origin = extra.origins[case.name]
                contradicts = any(_contradicts(variant, (c, case.name)) for c in components)
                if contradicts and _is_covered(grade, variant.submission_evaluation, run, case):
                    own_inputs = describe_inputs(submission, submission.cases[origin], run)
                    inputs = describe_inputs(extra.evaluation, case, run)
                    for name, text in own_inputs.items():
                        if inputs.get(name) == text:
                            del inputs[name]
                    return f"but not in {origin} with {join_inputs(inputs) or 'other numbers'}"
    return ""


def _contradicts(variant: IdeaVariant, cell: ResultCell) -> bool:
    """Return True if, in a cell that the variant changes, the submission has another result."""
    if not variant.changes_cell(cell):
        return False
    if is_fault(observe_component(variant.submission_evaluation, *cell)):
        return False
    return not variant.equals_submission(cell)


def _is_covered(grade: FailedGrade, submission: Evaluation, run: str, case: CaseRecipe) -> bool:
    """Return True if the contract seems to cover an extra input.

    It does not if the submission gets a result wrong that is right in all cases of the question, or
    if an accepted solution differs from the reference.
    """
    wrong = {component.name for component, _ in grade.wrong_cells}
    names = {component.name for component in grade.value_components if component.run == run}
    outcome = submission.subject_outcome(run, case)
    for name in sorted(names - wrong):
        if find_mismatch(submission, run, case, name, outcome):
            return False
    extra = extra_cases(grade.submission_evaluation)
    return not extra.is_disputed(run, case, grade.based_on_accepted)
