"""Find two ideas that together explain everything that is wrong with a submission.

A cell is a result on one case, and a variant is a program with an idea (see `idea_matching.py`).
The submission is right in every cell that neither idea changes.  It equals one variant in every
cell that only this one changes.  In every cell that both change, it equals the program that has
both ideas, one variant layered on top of the other.  Two ideas that replace the same function
cannot be layered; then the cells that only one of them changes must be enough.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence

from grader.explain.components import FailedGrade, ResultCell, same_in_cell
from grader.explain.idea_matching import (
    MIN_DISTINCT_NUMBERS,
    IdeaVariant,
    Match,
    PartialMatch,
    case_names,
    match_partially,
    possible_variants,
    report_entry,
)
from grader.grading.bank_errors import BankProgramError
from grader.model.report import Explanation, IdeaMatch

MAX_LAYERED_PROGRAMS = 12  # programs of two ideas that run for one submission
MIN_CASES_ALONE = 2  # cases that only one idea of a pair changes, if the two cannot be layered


def find_pair(grade: FailedGrade) -> tuple[tuple[IdeaMatch, ...], Explanation] | None:
    """Return the two ideas that together explain everything wrong, and an explanation.

    Return None unless exactly one pair of ideas does.
    """
    wrong = [
        cell
        for cell in grade.value_cells
        if cell in grade.wrong_cells and not grade.has_no_result(cell)
    ]
    layered_programs = 0
    pairs: dict[frozenset[str], tuple[PartialMatch, PartialMatch]] = {}
    for first, second in _candidate_pairs(grade, wrong):
        names = frozenset({first.idea_variant.name, second.idea_variant.name})
        if len(names) == 1 or names in pairs or not _fit_together(first, second, set(wrong)):
            continue
        shared = first.changed_cells & second.changed_cells
        fits = not shared
        if shared and layered_programs < MAX_LAYERED_PROGRAMS:
            layered_programs += 1
            fits = _equals_layered_program(grade, first, second, wrong)
        if not fits:
            both = (first, second)
            fits = all(_explains_enough_alone(grade, match, shared) for match in both)
        if fits:
            pairs[names] = (first, second)
    if len(pairs) != 1:  # if several pairs fit, no pair is named
        return None
    ((first, second),) = pairs.values()
    entries = (
        _entry_within_pair(grade, first, second),
        _entry_within_pair(grade, second, first),
    )
    values = grade.failing_value_cells
    what = "everything" if len(values) == len(grade.failing_cells) else "every result"
    names_text = f"{first.idea_variant.name} and {second.idea_variant.name}"
    text = f"Two ideas at once, {names_text}, explain {what} that is wrong."
    cases = tuple(dict.fromkeys(case for _, case in values))
    return entries, Explanation("pair", text, cases)


def _entry_within_pair(grade: FailedGrade, match: PartialMatch, partner: PartialMatch) -> IdeaMatch:
    """Return the report entry of one idea of a pair, with the cells that it explains alone."""
    alone = match.changed_cells - partner.changed_cells or match.changed_cells
    explained = tuple(cell for cell in grade.failing_cells if cell in alone)
    full_match = Match(match.idea_variant, match.changed_cells, explained, is_exact=False)
    return report_entry(grade, full_match)


def _candidate_pairs(
    grade: FailedGrade, wrong: Sequence[ResultCell]
) -> Iterator[tuple[PartialMatch, PartialMatch]]:
    """Yield pairs of variants: one explains some evidence, the other changes the rest of it.

    Comparing only the evidence rules out most variants at little cost.
    """
    wrong_cells = set(wrong)
    evidence = [cell for cell in grade.failing_cells if cell in wrong_cells]
    variants = possible_variants(grade)
    tried: set[frozenset[IdeaVariant]] = set()

    @functools.cache
    def match_wrong_cells(variant: IdeaVariant) -> PartialMatch | None:
        match = match_partially(grade, variant)
        if match is None or not match.changed_cells & wrong_cells:
            return None
        changed = match.changed_cells & wrong_cells
        return PartialMatch(variant, changed, match.equal_cells & wrong_cells)

    for variant in variants:
        if not any(variant.explains(cell) for cell in evidence):
            continue
        first = match_wrong_cells(variant)
        if first is None:
            continue
        unexplained = [cell for cell in evidence if cell not in first.equal_cells] or evidence[:1]
        for other in variants:
            key = frozenset({variant, other})
            if key in tried or not all(other.changes_cell(cell) for cell in unexplained):
                continue
            tried.add(key)
            second = match_wrong_cells(other)
            if second is not None:
                yield first, second


def _fit_together(first: PartialMatch, second: PartialMatch, wrong: set[ResultCell]) -> bool:
    """Return True if two ideas may explain the wrong cells together, and both are needed.

    Together they must change exactly the wrong cells.  Each must equal the submission in the cells
    that only it changes.  If one of them equals the submission in all wrong cells, the other is not
    needed.
    """
    if first.equal_cells >= wrong or second.equal_cells >= wrong:
        return False
    if first.changed_cells | second.changed_cells != wrong:
        return False
    first_alone = first.changed_cells - second.changed_cells
    second_alone = second.changed_cells - first.changed_cells
    return first_alone <= first.equal_cells and second_alone <= second.equal_cells


def _equals_layered_program(
    grade: FailedGrade, first: PartialMatch, second: PartialMatch, wrong: Sequence[ResultCell]
) -> bool:
    """Return True if one variant on top of the other, in some order, equals the submission."""
    submission = grade.submission_evaluation
    assert submission.bank is not None, "no session gives this evaluation its misconceptions"
    layers = [(match.idea_variant.name, match.idea_variant.index) for match in (first, second)]
    for order in (layers, layers[::-1]):
        try:
            program = submission.bank.layered_program(order)
        except BankProgramError:  # the two cannot be layered in this order
            continue
        layered = submission.with_bank_program(program)
        if all(same_in_cell(submission, layered, *cell) for cell in wrong):
            return True
    return False


def _explains_enough_alone(
    grade: FailedGrade, match: PartialMatch, shared: frozenset[ResultCell]
) -> bool:
    """Return True if an idea explains enough in the cells that the other does not change.

    Enough are two cases, three different numbers, and half of the cells that it changes.
    """
    alone = match.changed_cells - shared
    return (
        len(case_names(alone)) >= MIN_CASES_ALONE
        and len(grade.telling_numbers(alone)) >= MIN_DISTINCT_NUMBERS
        and len(alone) >= len(match.changed_cells) / 2
    )
