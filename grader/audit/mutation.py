"""Which wrong answers would a question accept?  Mutants of its reference show it.

Every mutant goes through the checks on every seed, the likeliest to kill it first, until one does.
One that is killed on some seeds only is *flaky*: whether a grade finds it is luck.  What passes
them all on every seed is held against the reference on many more inputs (`grader.audit.search`):
where it never differs it is equivalent, and counts for nothing; otherwise it is a survivor, a wrong
answer that a candidate could hand in and pass.  A survivor may be explained in the spec; an
explanation of one that is killed, or that no longer exists, is stale, and that is a fault.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from grader.audit.matrix import SURER, listed
from grader.audit.search import Search
from grader.audit.subjects import is_certain, result_of
from grader.evaluation.evaluation import BankFault, Evaluation, blame_bank
from grader.kinds import registry
from grader.model.mutation import Fate, Mutant, MutationReport, Trial, key
from grader.model.numerals import quantity
from grader.model.question import Question
from grader.model.report import FINE
from grader.model.spec import Check
from grader.sandbox.client import Overran
from grader.session import GradingSession

LEAST_SECONDS = 1.0  # a call gets: what no reference takes, on a busy machine
LOOKING = 8  # times as long for a call on further inputs: what takes longer is taken to hang
PATIENCE = 30.0  # times the longest call of the reference
NAME = "mutant"

Progress = Callable[[str], None]


def mutate(
    question: Question,
    *,
    seeds: Sequence[int],
    at_most: int | None = None,
    progress: Progress = lambda _: None,
) -> MutationReport:
    """Try the mutants of a question's reference, or a sample of at most so many.

    A mutant that passes every check on every seed is looked at further.  After a KeyboardInterrupt
    the report is of what was tried until then; `progress` gets a line on each mutant.
    """
    began = time.perf_counter()
    mutants: Sequence[Mutant] = ()
    trials: list[Trial] = []
    faults: list[str] = []
    interrupted = False
    searched = 0
    try:
        with GradingSession(question) as session, np.errstate(all="ignore"):
            with blame_bank("no mutants can be derived from the reference"):
                mutants = session.bank.reference.mutants()
            trying = _Trying(session, seeds)
            trying.measure()
            chosen = sample(mutants, at_most)
            for number, mutant in enumerate(chosen, 1):
                alive = sum(t.fate is Fate.SURVIVED for t in trials)
                progress(f"{question.id}: mutant {number} of {len(chosen)}, {alive} survived")
                trials.append(trying.trial(mutant))
                searched = trying.search.size
    except BankFault as fault:
        faults.append(str(fault))
    except KeyboardInterrupt:
        interrupted = True
    complete = len(trials) == len(mutants) and not faults
    return MutationReport(
        question=question.id,
        derived=len(mutants),
        trials=tuple(trials),
        seeds=tuple(seeds),
        searched=searched,
        seconds=time.perf_counter() - began,
        problems=(*faults, *_problems(question, mutants, trials, len(seeds), complete=complete)),
        interrupted=interrupted,
    )


def sample(mutants: Sequence[Mutant], at_most: int | None) -> list[Mutant]:
    """At most so many mutants, in the order of the source; the same ones each time."""
    taken = sorted(range(len(mutants)), key=lambda i: mutants[i].rank)[:at_most]
    return [mutants[i] for i in sorted(taken)]


class _Trying:
    """The checks, in the order in which they kill soonest, and the search for what they miss."""

    def __init__(self, session: GradingSession, seeds: Sequence[int]) -> None:
        self.session = session
        self.seeds = seeds
        self.kills: Counter[str] = Counter()
        # Those that can turn a submission down on any machine, and by more than its time.
        self.checks = [
            c
            for c in session.question.spec.checks
            if not c.stretch and registry.get(c.kind).decides_anywhere(c)
        ]
        self.search = Search(session)
        self.explained = {
            key(s.scope, s.was, s.becomes): s.because for s in session.question.spec.survivors
        }
        self.call_seconds = LEAST_SECONDS

    def measure(self) -> None:
        """See that the reference passes, and how long its calls take.

        Raises:
            BankFault: it does not pass.
        """
        for seed in self.seeds:
            evaluation = self.session.examine("unchanged", [self.session.question.reference], seed)
            for check in self.checks:
                for case in evaluation.cases_of(check):
                    began = time.perf_counter()
                    evaluation.truth(check.run, case)
                    spent = time.perf_counter() - began  # next to nothing, the second time
                    self.call_seconds = max(self.call_seconds, PATIENCE * spent)
            if (killer := self._killer(evaluation)[0]) is not None:
                raise BankFault(f"the reference does not pass {killer}: audit it first")

    def trial(self, mutant: Mutant) -> Trial:
        """Try one mutant on every seed, and look further where no check kills it on any."""
        source = mutant.source(self.session.question.reference)
        killers: dict[int, str] = {}
        passing: list[int] = []
        for seed in self.seeds:
            likely = next(iter(killers.values()), "")
            try:
                evaluation, killer, certain = self._tried(source, seed, likely)
            except BankFault:
                return Trial(mutant, Fate.KILLED, "loading", seed)
            if killer is None:
                passing.append(seed)
                continue
            killers[seed] = killer
            if certain:  # on every other seed too
                passing.clear()
                break
        because = self.explained.get(mutant.key) if passing else None
        if not killers and because is None:
            # An input that is not the question's may take long, on a busy machine longer yet.
            evaluation.submission.call_seconds = LOOKING * self.call_seconds
            found = self.search.difference(evaluation.submission)
            fate = Fate.EQUIVALENT if found is None else Fate.SURVIVED
            return Trial(mutant, fate, counterexample=found)
        if not killers:
            return Trial(mutant, Fate.EXPLAINED, because=because)
        on, killer = next(iter(killers.items()))
        self.kills[killer] += 1
        fate = Fate.KILLED if not passing else Fate.FLAKY if because is None else Fate.EXPLAINED
        return Trial(mutant, fate, killer, on, tuple(passing), because)

    def _tried(self, source: bytes, seed: int, likely: str) -> tuple[Evaluation, str | None, bool]:
        """The evaluation, the check that kills a mutant on one seed, and whether on all others too.

        Raises:
            BankFault: it cannot be loaded.
        """
        for patience in (1, 3):  # a busy machine must not count as a kill
            evaluation = self.session.examine(NAME, [source], seed)
            evaluation.submission.call_seconds = patience * self.call_seconds
            killer, certain = self._killer(evaluation, likely)
            if not isinstance(evaluation.submission.worker.failure, Overran):
                break
        return evaluation, killer, certain

    def _killer(self, evaluation: Evaluation, likely: str = "") -> tuple[str | None, bool]:
        """The check that the evaluation's program does not pass, and whether on every seed."""

        def order(check: Check) -> tuple[bool, bool, int]:
            slow = registry.get(check.kind).long_limit
            return check.id != likely, slow, -self.kills[check.id]

        for check in sorted(self.checks, key=order):
            result = result_of(evaluation, check)
            if result.verdict not in FINE:
                return check.id, is_certain(evaluation, check, result)
        return None, False


def _problems(
    question: Question,
    mutants: Sequence[Mutant],
    trials: Sequence[Trial],
    seeds: int,
    *,
    complete: bool,
) -> Iterator[str]:
    if survivors := sum(t.fate is Fate.SURVIVED for t in trials):
        count = quantity(survivors, "wrong mutant passes", "wrong mutants pass")
        yield f"{count} every check: add a case or a check, or explain it"
    fates: dict[tuple[str, str, str], set[Fate]] = {}
    for trial in trials:
        mutant, passing = trial.mutant, trial.passing_seeds
        fates.setdefault(mutant.key, set()).add(trial.fate)
        if trial.fate is Fate.FLAKY:
            yield (
                f"the mutant of {mutant.scope}, line {mutant.line}, that reads "
                f"{mutant.becomes!r}, is stopped on {seeds - len(passing)} of {seeds} seeds, and "
                f"passes every check on {listed(passing)}: {SURER}"
            )
    known = {m.key for m in mutants}
    for index, item in enumerate(question.spec.survivors):
        where = f"survivors[{index}] ({item.scope}: {item.becomes})"
        wanted = key(item.scope, item.was, item.becomes)
        if known and wanted not in known:
            yield f"{where}: no mutant of the reference reads so; take the explanation out"
        elif complete and fates[wanted] == {Fate.KILLED}:
            yield f"{where}: a check kills it; take the explanation out"
