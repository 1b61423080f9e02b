"""Check `performance`: CPU time of a run as a multiple of the reference's, decided statistically.

Both programs run the same fresh inputs in alternating order; each pair says whether the submission
took more than the allowed multiple; the check stops when one side leads by five (a sequential
probability ratio test with p = 0.2 against 0.8 and both errors at 1e-3: Wald, "Sequential
Analysis", 1947).  A pair that is off by a factor of three or more counts twice: the odds that load
did that are below 1 in 16, the square of what a pair has to say.  When the pairs run out first it
is *inconclusive*, which fails nobody.

Time is CPU time of the worker's process read from outside, less what the exchange itself costs,
which is measured on the trusted worker.  Machine load moves it by a few per cent.  All threads
count, so that extra threads save nothing, and sleeping costs nothing and gains nothing.

The inputs of the pairs depend on a secret and the seed, so that nobody who learns the seed can
compute the answers ahead.
"""

from __future__ import annotations

import statistics
from dataclasses import dataclass, field
from typing import Literal

from grader.grading.kinds.base import CaseTrial, Check, Kind, api
from grader.model.number_format import format_ratio
from grader.model.report import Verdict
from grader.model.spec import Multiple, yaml_key

DECISIVE_LEAD = 5
CLEAR_RATIO = 3.0  # times the allowed multiple, or one over it, from which on a pair counts twice
MAX_PAIRS = 60
MIN_PAIRS = 3  # pairs, however slow
# Of the submission's CPU time: slow code need not prove it sixty times.
MAX_RACE_NANOSECONDS = 3_000_000_000


@dataclass(slots=True)
class Race:
    """Pairs of times so far."""

    allowed: float
    ratios: list[float] = field(default_factory=list)  # the submission's time over the reference's
    spent: int = 0  # nanoseconds of the submission

    def add(self, candidate: int, reference: int) -> None:
        """Record one pair, in nanoseconds."""
        self.ratios.append(candidate / max(1, reference))
        self.spent += candidate

    @property
    def lead(self) -> int:
        """Pairs that were too slow, less those that were not; clear ones count twice."""
        lead = 0
        for ratio in self.ratios:
            times_allowed = ratio / self.allowed
            weight = 1 if 1 / CLEAR_RATIO < times_allowed < CLEAR_RATIO else 2
            lead += weight if times_allowed > 1 else -weight
        return lead

    @property
    def is_decided(self) -> bool:
        """Whether one side leads by enough, or slow code has been tried often enough."""
        enough = self.spent > MAX_RACE_NANOSECONDS and len(self.ratios) >= MIN_PAIRS
        return enough or abs(self.lead) >= DECISIVE_LEAD


class PerformanceCheck(Check):
    """CPU time against the reference, measured in the same grade."""

    kind: Literal["performance"]
    at_most: Multiple = yaml_key("How many times the reference's CPU time is allowed.")


class PerformanceKind(Kind[PerformanceCheck]):
    """Race the submission against the reference."""

    keys = PerformanceCheck
    needs_drawn_inputs = True
    is_timed = True
    shows_measurement = True
    missed_stretch_word = "slow"

    def judge(self, trial: CaseTrial[PerformanceCheck]) -> api.CaseFinding:
        race = Race(trial.check.at_most)
        wrong_result = None
        if trial.check.stretch and not trial.evaluation.measures_stretch:
            wrong_result = _wrong_unforeseen(trial)
            if wrong_result is None:
                return api.CaseFinding("not measured", Verdict.SKIPPED)
        else:
            cost = _exchange_cost(trial)
            for pair in range(MAX_PAIRS):
                wrong_result = _pair(trial, race, pair, cost)
                if wrong_result is not None or race.is_decided:
                    break
        if wrong_result is not None:
            sentence = f"{wrong_result} is wrong on fresh inputs of case {trial.case.name}"
            # A wrong result fails the submission even if speed is a stretch.
            return api.CaseFinding(sentence, always_decides=True)
        return _decision(race, trial.case)


def _decision(race: Race, case: api.Case) -> api.CaseFinding:
    ratio = statistics.median(race.ratios)
    figures = {"ratio": ratio}
    line = f"{format_ratio(ratio)} the reference's CPU time, {format_ratio(race.allowed)} allowed"
    if race.lead >= DECISIVE_LEAD:
        exhibit = api.make_bars(format_ratio, ("yours", ratio), ("allowed", race.allowed))
        return api.CaseFinding(f"{line} in case {case.name}", exhibit=exhibit, figures=figures)
    verdict = Verdict.PASS if race.lead <= -DECISIVE_LEAD else Verdict.INCONCLUSIVE
    return api.CaseFinding(line, verdict, figures=figures)


def _wrong_unforeseen(trial: CaseTrial[PerformanceCheck]) -> str | None:
    """A result that is wrong on inputs that nobody knows, if any; nothing is timed."""
    evaluation, run, draw = trial.evaluation, trial.check.run, trial.evaluation.secret_draw
    found = evaluation.outcome(evaluation.submission, run, trial.case, draw_index=draw)
    return next(
        (
            n
            for n in evaluation.wanted_results[run]
            if trial.find_mismatch(n, found, draw_index=draw)
        ),
        None,
    )


def _pair(trial: CaseTrial[PerformanceCheck], race: Race, pair: int, cost: int) -> str | None:
    """Time both on fresh inputs, the order alternating; a result that is wrong there, if any."""
    evaluation, case, draw_index = trial.evaluation, trial.case, trial.evaluation.secret_draw + pair
    want = evaluation.wanted_results[trial.check.run]
    inputs = trial.inputs(draw_index=draw_index)

    def one(program: api.RemoteProgram) -> tuple[api.Outcome, int]:
        outcome, nanoseconds = program.run_timed(trial.steps, inputs, want)
        return outcome, max(1, nanoseconds - cost)

    def reference() -> tuple[api.Outcome, int]:
        with api.blame_bank(f"the reference fails on case {case.name}"):
            return one(evaluation.reference)

    if pair % 2:
        right, base = reference()
    found, took = one(evaluation.submission)
    if not pair % 2:
        right, base = reference()
    race.add(took, base)
    for name in want:
        # The band is looked at once, and wherever the two are not the same at a glance.
        alike = api.same_value(found.values.get(name), right.values[name], case.dtype)
        if (pair == 0 or not alike) and trial.find_mismatch(name, found, draw_index=draw_index):
            return name
    return None


def _exchange_cost(trial: CaseTrial[PerformanceCheck]) -> int:
    """CPU nanoseconds of sending a case there and back, measured on the trusted worker."""
    inputs = trial.inputs(draw_index=1)
    with api.blame_bank("the reference's worker fails"):
        return min(trial.evaluation.reference.run_timed((), inputs, ())[1] for _ in range(3))
