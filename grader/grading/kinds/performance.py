"""Check `performance`: CPU time of a run as a multiple of the reference's, judged statistically.

Both programs run the same fresh inputs in alternating order.  Each pair of runs tells whether the
submission took more than the allowed multiple.  The check stops when one side leads by five: a
sequential probability ratio test with p = 0.2 against 0.8 and both errors at 1e-3 (Wald,
"Sequential Analysis", 1947).  A pair that is off by a factor of three or more counts twice, because
it is as strong as the evidence of two pairs: the odds that load caused it are below 1 in 16.  If
the pairs run out first, the check is *inconclusive*, which fails nobody.

Time is CPU time of the worker's process, read from outside, minus the cost of the exchange, which
is measured on the trusted worker.  Machine load changes it by a few per cent.  All threads count:
extra threads save nothing, and sleeping costs nothing and gains nothing.

The inputs of the pairs depend on a secret and the seed.  Nobody who learns the seed can compute the
answers ahead.
"""

from __future__ import annotations

import statistics
from dataclasses import dataclass, field
from typing import Literal

from grader.grading.kinds.base import CaseFinding, CaseTrial, Check, Kind, api
from grader.model.number_format import format_ratio
from grader.model.report import Verdict
from grader.model.spec import Multiple, yaml_key

DECISIVE_LEAD = 5
CLEAR_RATIO = 3.0  # a pair counts twice if it is off the allowed multiple by this factor
MAX_PAIRS = 60
MIN_PAIRS = 3  # even if the submission is slow
MAX_RACE_NANOSECONDS = 3_000_000_000  # of the submission; slow code does not need all pairs
EXCHANGE_MEASUREMENTS = 3


@dataclass(slots=True)
class Race:
    """The pairs of runs so far, each with a time of the submission and of the reference."""

    allowed: float  # the submission's time over the reference's, at most
    ratios: list[float] = field(default_factory=list)  # the submission's time over the reference's
    spent: int = 0  # nanoseconds of the submission

    def add(self, candidate: int, reference: int) -> None:
        """Record one pair, in nanoseconds."""
        self.ratios.append(candidate / max(1, reference))
        self.spent += candidate

    @property
    def lead(self) -> int:
        """Number of pairs that were too slow, minus the others; clear pairs count twice."""
        lead = 0
        for ratio in self.ratios:
            times_allowed = ratio / self.allowed
            weight = 1 if 1 / CLEAR_RATIO < times_allowed < CLEAR_RATIO else 2
            lead += weight if times_allowed > 1 else -weight
        return lead

    @property
    def is_decided(self) -> bool:
        """True if one side leads by enough, or slow code has run often enough."""
        if self.spent > MAX_RACE_NANOSECONDS and len(self.ratios) >= MIN_PAIRS:
            return True
        return abs(self.lead) >= DECISIVE_LEAD


class PerformanceCheck(Check):
    """CPU time against the reference, measured in the same grade."""

    kind: Literal["performance"]
    at_most: Multiple = yaml_key("How many times the reference's CPU time is allowed.")


class PerformanceKind(Kind[PerformanceCheck]):
    """Race the submission against the reference.

    A wrong result on fresh secret inputs fails the submission, even if the check is a stretch or
    its time is not measured.
    """

    check_model = PerformanceCheck
    needs_drawn_inputs = True
    is_timed = True
    shows_measurement = True
    missed_stretch_word = "slow"

    def judge(self, trial: CaseTrial[PerformanceCheck]) -> CaseFinding:
        is_timed = trial.evaluation.measures_stretch or not trial.check.stretch
        race = Race(trial.check.at_most)
        if is_timed:
            wrong_result = _run_race(trial, race)
        else:
            wrong_result = _wrong_result_on_secret_inputs(trial)
        if wrong_result is not None:
            sentence = f"{wrong_result} is wrong on fresh inputs of case {trial.case.name}"
            return CaseFinding(sentence, always_decides=True)  # even if speed is a stretch
        if not is_timed:
            return CaseFinding("not measured", Verdict.SKIPPED)
        return _decide(race, trial.case)


def _decide(race: Race, case: api.Case) -> CaseFinding:
    """Return the finding of a race that has ended; without a decisive lead it is inconclusive."""
    ratio = statistics.median(race.ratios)
    figures = {"ratio": ratio}
    line = f"{format_ratio(ratio)} the reference's CPU time, {format_ratio(race.allowed)} allowed"
    if race.lead >= DECISIVE_LEAD:
        exhibit = api.make_bars(format_ratio, ("yours", ratio), ("allowed", race.allowed))
        return CaseFinding(f"{line} in case {case.name}", exhibit=exhibit, figures=figures)
    verdict = Verdict.PASS if race.lead <= -DECISIVE_LEAD else Verdict.INCONCLUSIVE
    return CaseFinding(line, verdict, figures=figures)


def _wrong_result_on_secret_inputs(trial: CaseTrial[PerformanceCheck]) -> str | None:
    """Run the submission once on secret inputs; return the name of a wrong result, if any."""
    evaluation = trial.evaluation
    run = trial.check.run
    draw_index = evaluation.secret_draw
    outcome = evaluation.outcome(evaluation.subject, run, trial.case, draw_index=draw_index)
    for name in evaluation.wanted_results[run]:
        if trial.find_mismatch(name, outcome, draw_index=draw_index):
            return name
    return None


def _run_race(trial: CaseTrial[PerformanceCheck], race: Race) -> str | None:
    """Run pairs until the race is decided or a result is wrong; return that result's name."""
    exchange_cost = _exchange_cost(trial)
    for pair in range(MAX_PAIRS):
        wrong_result = _run_pair(trial, race, pair, exchange_cost)
        if wrong_result is not None or race.is_decided:
            return wrong_result
    return None


def _run_pair(
    trial: CaseTrial[PerformanceCheck], race: Race, pair: int, exchange_cost: int
) -> str | None:
    """Time both programs on fresh inputs and add the pair to the race.

    The programs take turns in running first.  Returns the name of a wrong result, if any.
    """
    evaluation = trial.evaluation
    case = trial.case
    draw_index = evaluation.secret_draw + pair
    results = evaluation.wanted_results[trial.check.run]
    inputs = trial.inputs(draw_index=draw_index)

    def time_program(program: api.RemoteProgram) -> tuple[api.Outcome, int]:
        outcome, nanoseconds = program.run_timed(trial.steps, inputs, results)
        return outcome, max(1, nanoseconds - exchange_cost)

    def time_reference() -> tuple[api.Outcome, int]:
        with api.blame_bank(f"the reference fails on case {case.name}"):
            return time_program(evaluation.reference)

    if pair % 2:
        expected, reference_time = time_reference()
        actual, submission_time = time_program(evaluation.subject)
    else:
        actual, submission_time = time_program(evaluation.subject)
        expected, reference_time = time_reference()
    race.add(submission_time, reference_time)
    for name in results:
        # Comparing with the tolerance is slow: after the first pair, only unequal results need it.
        is_same = api.same_value(actual.values.get(name), expected.values[name], case.dtype)
        if is_same and pair > 0:
            continue
        if trial.find_mismatch(name, actual, draw_index=draw_index):
            return name
    return None


def _exchange_cost(trial: CaseTrial[PerformanceCheck]) -> int:
    """Return the CPU nanoseconds of an empty run on a case, measured on the trusted worker."""
    inputs = trial.inputs(draw_index=1)
    reference = trial.evaluation.reference
    with api.blame_bank("the reference's worker fails"):
        return min(reference.run_timed((), inputs, ())[1] for _ in range(EXCHANGE_MEASUREMENTS))
