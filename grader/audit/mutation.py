"""Which wrong answers would a question accept?  Mutants of its reference show it.

Every mutant goes through the checks, the likeliest to kill it first, until one does.  What passes
them all on every seed is held against the reference on many more inputs (`grader.audit.search`):
where it never differs it is equivalent, and counts for nothing; otherwise it is a survivor, a wrong
answer that a candidate could hand in and pass.  A survivor may be explained in the spec; an
explanation of one that is killed, or that no longer exists, is stale, and that is a fault.
"""

from __future__ import annotations

import contextlib
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from grader.audit.search import Search
from grader.bench.bench import BankFault, Bench
from grader.bench.tally import Stopped
from grader.kinds import registry, run_check
from grader.model.mutation import Fate, Mutant, MutationReport, Trial, key
from grader.model.verdict import Verdict
from grader.sandbox.client import Overran, WorkerError
from grader.sandbox.replies import ProgramError
from grader.session import GradingSession

if TYPE_CHECKING:
    from grader.model.question import Question
    from grader.model.spec import Check
    from grader.sandbox.remote import RemoteProgram

LEAST_SECONDS = 1.0  # a call gets: what no reference of ours takes, on a busy machine
PATIENCE = 30.0  # times the longest call of the reference
NAME = "mutant"

Progress = Callable[[str], None]


def mutate(
    question: Question,
    *,
    seeds: Sequence[int],
    at_most: int | None = None,
    progress: Progress | None = None,
) -> MutationReport:
    """Try the mutants of a question's reference.

    Args:
        question: the question.
        seeds: on which a mutant has to pass every check to be looked at further.
        at_most: how many mutants to try; a larger sample holds the smaller one.
        progress: gets a line on what is being done, for people who wait.

    Returns:
        The report; after a KeyboardInterrupt, of what was tried until then.
    """
    began = time.perf_counter()
    mutants: Sequence[Mutant] = ()
    trials: list[Trial] = []
    faults: list[str] = []
    interrupted = False
    searched = 0
    with contextlib.ExitStack() as stack:
        stack.enter_context(np.errstate(all="ignore"))
        try:
            session = stack.enter_context(GradingSession(question))
            mutants = _derive(session)
            trying = _Trying(session, seeds)
            trying.measure()
            chosen = sample(mutants, at_most)
            for number, mutant in enumerate(chosen):
                if progress is not None:
                    alive = sum(t.fate is Fate.SURVIVED for t in trials)
                    line = f"mutant {number + 1} of {len(chosen)}, {alive} survived"
                    progress(f"{question.id}: {line}")
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
        problems=(*faults, *_problems(question, mutants, trials, complete=complete)),
        interrupted=interrupted,
    )


def sample(mutants: Sequence[Mutant], at_most: int | None) -> list[Mutant]:
    """At most so many mutants, in the order of the source; the same ones each time."""
    if at_most is None or at_most >= len(mutants):
        return list(mutants)
    taken = set(sorted(range(len(mutants)), key=lambda i: mutants[i].rank)[:at_most])
    return [m for i, m in enumerate(mutants) if i in taken]


def _derive(session: GradingSession) -> tuple[Mutant, ...]:
    try:
        return session.bank.reference.mutants()
    except (ProgramError, WorkerError) as error:
        raise BankFault(f"no mutants can be derived from the reference: {error}") from None


class _Trying:
    """The checks, in the order in which they kill soonest, and the search for what they miss."""

    def __init__(self, session: GradingSession, seeds: Sequence[int]) -> None:
        self.session = session
        self.seeds = seeds
        self.kills: Counter[str] = Counter()
        self.checks = [c for c in session.question.spec.checks if _decides(c)]
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
        question = self.session.question
        for seed in self.seeds:
            bench = self.session.examine("unchanged", [question.reference], seed)
            for check in self.checks:
                for case in bench.cases_of(check):
                    began = time.perf_counter()
                    bench.truth(check.run, case)
                    spent = time.perf_counter() - began  # next to nothing, the second time
                    self.call_seconds = max(self.call_seconds, PATIENCE * spent)
            if (killer := self._killer(bench)) is not None:
                raise BankFault(f"the reference does not pass {killer}: audit it first")
        self.kills.clear()

    def trial(self, mutant: Mutant) -> Trial:
        """Try one mutant."""
        source = mutant.source(self.session.question.reference)
        for seed in self.seeds:
            program, check = self._tried(source, seed)
            if check is not None:
                self.kills[check] += 1
                return Trial(mutant, Fate.KILLED, check, seed)
        because = self.explained.get(mutant.key)
        if because is not None:
            return Trial(mutant, Fate.EXPLAINED, because=because)
        assert program is not None
        try:
            counterexample = self.search.difference(program)
        except WorkerError as failure:  # it hangs or dies on inputs of which no check has the like
            counterexample = self.search.died(failure)
        fate = Fate.EQUIVALENT if counterexample is None else Fate.SURVIVED
        return Trial(mutant, fate, counterexample=counterexample)

    def _tried(self, source: bytes, seed: int) -> tuple[RemoteProgram | None, str | None]:
        """A mutant's program, as it was last loaded, and the check that it does not pass.

        What overran may try again, for longer: a busy machine must not count as a kill.
        """
        for patience in (1, 3):
            try:
                bench = self.session.examine(NAME, [source], seed)
            except BankFault:
                return None, "loading"
            bench.submission.call_seconds = patience * self.call_seconds
            bench.asks_system = seed == self.seeds[0]  # sizes are the same on all of them
            check = self._killer(bench)
            if not isinstance(bench.submission.worker.failure, Overran):
                break
        return bench.submission, check

    def _killer(self, bench: Bench) -> str | None:
        for check in sorted(self.checks, key=self._order):
            try:
                verdict = run_check(bench, check).verdict
            except Stopped:
                return check.id
            if verdict not in {Verdict.PASS, Verdict.INCONCLUSIVE, Verdict.SKIPPED}:
                return check.id
        return None

    def _order(self, check: Check) -> tuple[bool, int]:
        return registry.get(check.kind).long_limit, -self.kills[check.id]


def _decides(check: Check) -> bool:
    """Whether a check can turn a submission down on any machine, and by more than its time."""
    return not check.stretch and registry.get(check.kind).decides_anywhere(check)


def _problems(
    question: Question, mutants: Sequence[Mutant], trials: Sequence[Trial], *, complete: bool
) -> Iterator[str]:
    survivors = sum(t.fate is Fate.SURVIVED for t in trials)
    if survivors:
        verb = "mutant passes" if survivors == 1 else "mutants pass"
        yield f"{survivors} wrong {verb} every check: add a case or a check, or explain it"
    known = {m.key for m in mutants}
    fates: dict[tuple[str, str, str], set[Fate]] = {}
    for trial in trials:
        fates.setdefault(trial.mutant.key, set()).add(trial.fate)
    for index, item in enumerate(question.spec.survivors):
        where = f"survivors[{index}] ({item.scope}: {item.becomes})"
        wanted = key(item.scope, item.was, item.becomes)
        if known and wanted not in known:
            yield f"{where}: no mutant of the reference reads so; take the explanation out"
        elif complete and fates[wanted] == {Fate.KILLED}:
            yield f"{where}: a check kills it; take the explanation out"
