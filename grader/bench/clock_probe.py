"""Whether a count of operations goes with the time that they take, by the judge's own clock.

A count is the worker's word.  What it names can be repeated in the reference's process, and the
judge reads the CPU time of both.  A run that takes far longer than what it is said to consist of,
compared with the same of the reference, does more than was counted.  How slow the operations are
does not matter: many small products, or products in float64, are as slow when they are repeated.
"""

from __future__ import annotations

import statistics
from dataclasses import dataclass, field

from grader.bench.bench import Bench, trusting
from grader.bench.compare import fault_of
from grader.bench.results import same_value
from grader.bench.tally import Finding
from grader.cases.recipe import CaseRecipe
from grader.model.numerals import times
from grader.model.verdict import Verdict
from grader.sandbox.replies import Measured, Outcome

# How many times longer than by its count a run may take, as a multiple of the reference's.  Of
# right solutions it is 0.9 to 1.3.
ROOM = 1.6
LEAD = 5  # pairs by which one side has to lead, as in a check of speed
MOST_PAIRS = 30
_DRAWS = 1 << 11  # beyond the secret: other draws of the same case lie before


@dataclass(slots=True)
class Pairs:
    """How much longer each run took than by its count, as a multiple of the reference's."""

    ratios: list[float] = field(default_factory=list)

    @property
    def lead(self) -> int:
        """Pairs that took too long, less those that did not."""
        return sum(1 if ratio > ROOM else -1 for ratio in self.ratios)


def contradiction(
    bench: Bench, run: str, case: CaseRecipe, mine: Measured, reference: Measured
) -> Finding | None:
    """That a run takes far longer than its operations do; nothing where it is in doubt.

    Args:
        bench: on which both are.
        run: that was counted.
        case: on which.
        mine: the submission's count.
        reference: the reference's count of the same run.
    """
    if not mine.work or not reference.work:
        return None
    pairs = Pairs()
    same = sorted(mine.work) == sorted(reference.work)
    for number in range(MOST_PAIRS + 1):
        draw = bench.secret + _DRAWS + number
        inputs, want = bench.inputs(case, run, draw_index=draw), bench.wanted[run]
        steps = bench.steps(run)

        def ours(*asked: object) -> tuple[Outcome, int]:
            with trusting(f"the reference fails on case {case.name}"):
                return bench.reference.timed(*asked)  # type: ignore[arg-type]

        asked = (steps, inputs, want)
        if number % 2:
            right, base = ours(*asked)
        found, took = bench.submission.timed(*asked)
        if not number % 2:
            right, base = ours(*asked)
        with trusting("the reference's worker fails"):
            longer = 1.0 if same else _time(bench, mine) / _time(bench, reference)
        for name in want:
            if same_value(found.values.get(name), right.values[name], case.dtype):
                continue
            if fault_of(bench, run, case, name, found, draw_index=draw):
                return Finding(f"{name} is wrong on fresh inputs of case {case.name}")
        if number:  # the first run is slower than all others
            pairs.ratios.append(took / max(1, base) / longer)
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


def _time(bench: Bench, counted: Measured) -> int:
    return max(1, bench.reference.repeat(counted.work))
