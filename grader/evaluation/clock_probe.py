"""Whether a count of operations goes with the time that they take, by the judge's own clock.

A count is the worker's word.  What it names can be repeated in the reference's process, and the
judge reads the CPU time of both.  A run that takes far longer than what it is said to consist of,
compared with the same of the reference, does more than was counted.  How slow the operations are
does not matter: many small products, or products in float64, are as slow when they are repeated;
and what a run takes on the smallest case, for checks or for printing, is taken off.
"""

from __future__ import annotations

import statistics
from dataclasses import dataclass, field

from grader.cases.dataflow import free_names
from grader.cases.recipe import CaseRecipe
from grader.evaluation.compare import fault_of
from grader.evaluation.evaluation import Evaluation, blame_bank
from grader.evaluation.results import same_value
from grader.evaluation.tally import Finding
from grader.model.numerals import times
from grader.model.verdict import Verdict
from grader.sandbox.replies import Measured, Outcome

# How many times longer than by its count a run may take, as a multiple of the reference's.  Of
# right solutions it is 0.9 to 1.3.
ROOM = 1.9
UNNAMED_ROOM = 2.5  # the same where the products are not named: fused and convolved ones
LEAD = 5  # pairs by which one side has to lead, as in a check of speed
MOST_PAIRS = 30
SMALL_PAIRS = 3  # of the smallest case, whose least time is taken off
LEAST = 1_000_000  # nanoseconds by which the case takes longer than the smallest one: else in doubt
_DRAWS = 1 << 11  # beyond the secret: other draws of the same case lie before


@dataclass(slots=True)
class Pairs:
    """How much longer each run took than by its count, as a multiple of the reference's."""

    room: float
    ratios: list[float] = field(default_factory=list)

    @property
    def lead(self) -> int:
        """Pairs that took too long, less those that did not."""
        return sum(1 if ratio > self.room else -1 for ratio in self.ratios)


def contradiction(
    evaluation: Evaluation, run: str, case: CaseRecipe, mine: Measured, reference: Measured
) -> Finding | None:
    """That a run takes far longer than its operations do; nothing where it is in doubt.

    Args:
        evaluation: on which both are.
        run: that was counted.
        case: on which.
        mine: the submission's count.
        reference: the reference's count of the same run.
    """
    small = _smallest(evaluation, run)
    if not reference.work or small is case:
        return None
    pairs = Pairs(ROOM if mine.work else UNNAMED_ROOM)
    same = sorted(mine.work) == sorted(reference.work)
    fixed: list[tuple[int, int]] = []
    for number in range(MOST_PAIRS + 1):
        spent = _both(evaluation, run, case, number)
        if isinstance(spent, Finding):
            return spent
        if len(fixed) < SMALL_PAIRS:
            taken = _both(evaluation, run, small, number)
            if isinstance(taken, Finding):
                return None
            fixed.append(taken)
        ours, base = (min(column) for column in zip(*fixed, strict=True))
        if spent[1] - base < LEAST:
            return None
        with blame_bank("the reference's worker fails"):
            longer = _longer(evaluation, mine, reference) if not same else 1.0
        if number:  # the first run is slower than all others
            pairs.ratios.append((spent[0] - ours) / (spent[1] - base) / longer)
        if abs(pairs.lead) >= LEAD:
            break
    if pairs.lead < LEAD:
        return None
    ratio = statistics.median(pairs.ratios)
    return Finding(
        f"flagged for review: the run takes {times(ratio)} the CPU time of the operations that "
        f"were counted, measured by the reference's (case {case.name})",
        Verdict.POLICY,
        figures={"clock": ratio},
    )


def _smallest(evaluation: Evaluation, run: str) -> CaseRecipe:
    """The case on which a run does least: what it takes there, it takes anywhere."""
    inputs = free_names(evaluation.steps(run)).keys()
    return min(
        (c for c in evaluation.cases.values() if inputs <= c.inputs.keys()), key=evaluation.weight
    )


def _both(
    evaluation: Evaluation, run: str, case: CaseRecipe, number: int
) -> tuple[int, int] | Finding:
    """Nanoseconds of the submission's and of the reference's run on fresh inputs."""
    draw = evaluation.secret + _DRAWS + number
    inputs, want = evaluation.inputs(case, run, draw_index=draw), evaluation.wanted[run]

    def ours() -> tuple[Outcome, int]:
        with blame_bank(f"the reference fails on case {case.name}"):
            return evaluation.reference.timed(evaluation.steps(run), inputs, want)

    first = ours() if number % 2 else None
    found, took = evaluation.submission.timed(evaluation.steps(run), inputs, want)
    right, base = first or ours()
    for name in want:
        if same_value(found.values.get(name), right.values[name], case.dtype):
            continue
        if fault_of(evaluation, run, case, name, found, draw_index=draw):
            return Finding(f"{name} is wrong on fresh inputs of case {case.name}")
    return took, base


def _longer(evaluation: Evaluation, mine: Measured, reference: Measured) -> float:
    """How many times longer than the reference's operations those that were counted take."""
    if not mine.work:  # it does not say what they are
        return max(1.0, float(mine.value)) / max(1.0, float(reference.value))
    return _time(evaluation, mine) / _time(evaluation, reference)


def _time(evaluation: Evaluation, counted: Measured) -> int:
    return max(1, evaluation.reference.repeat(counted.work))
