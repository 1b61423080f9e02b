"""Hold a program against the reference on many more inputs than a grade has.

The inputs are those of the question's cases: drawn again from other seeds; in other sizes, dtypes
and layouts; with other numbers, out of what the cases give each name.  What the reference itself
does not take is left out.  They are tried from the smallest on, so that a counterexample can be
read.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from grader.cases.dataflow import free_names
from grader.cases.recipe import CaseRecipe, read_cases
from grader.cases.vary import written
from grader.evaluation.compare import fault_of
from grader.evaluation.evaluation import BankFault, Evaluation
from grader.evaluation.results import Value
from grader.explain.further import Domain, content, variants
from grader.kinds import registry
from grader.model.mutation import Counterexample, Reach
from grader.sandbox.client import WorkerError
from grader.sandbox.remote import RemoteProgram
from grader.sandbox.replies import Outcome, ProgramError
from grader.session import GradingSession

SEEDS = range(7001, 7009)  # none that an audit uses
SLOW = 0.1  # seconds of the reference beyond which an input is not worth it
CURVE = 1e-4  # of its highest point, by which a curve may stray
LARGE = 20_000  # entries beyond which a right but slow program would seem to hang


@dataclass(frozen=True, slots=True)
class _Input:
    """One input to try."""

    reach: Reach
    evaluation: Evaluation
    run: str
    case: CaseRecipe
    origin: str  # the case of the question

    @property
    def names(self) -> list[str]:
        """What the run takes of the case."""
        return list(free_names(self.evaluation.steps(self.run)))

    @property
    def weight(self) -> tuple[int, tuple[int, int]]:
        """How far it is from the question's cases, and how large."""
        return list(Reach).index(self.reach), self.evaluation.weight(self.case)

    @property
    def content(self) -> int:
        """A number that two inputs share if programs see no difference: few are all random."""
        return hash((self.run, content(self.evaluation, self.case, self.names)))


class Search:
    """The inputs of a question's search, drawn once and used for every program."""

    def __init__(self, session: GradingSession) -> None:
        """Draw nothing yet: most searches are never needed."""
        self.session = session
        self.question = session.question
        self.size = 0  # inputs in use
        self._own = read_cases(self.question.spec.cases)[0]
        # Results of which every check that compares them asks only where they go.
        self._loose = self._compared(only_course=True) - self._compared(only_course=False)

    def _compared(self, *, only_course: bool) -> set[tuple[str, str | None]]:
        """Runs and results that some check compares, in the one way or the other."""
        checks = self.question.spec.checks
        chosen = [c for c in checks if registry.get(c.kind).only_course is only_course]
        return {(check.run, result) for check in chosen for result in check.compared}

    @cached_property
    def _domain(self) -> Domain:
        return Domain(self._evaluation(SEEDS[0], self._own))

    @cached_property
    def _inputs(self) -> list[_Input]:
        """Every input, those nearest to the question's cases first, then the smallest."""
        known: set[int] = set()
        found = []
        for seed, reach, case, origin in self._candidates():
            evaluation = self._evaluation(seed, {case.name: case})
            for run in self.question.runs:
                given = _Input(reach, evaluation, run, case, origin)
                if case.inputs.keys() >= set(given.names) and self._usable(given, known):
                    known.add(given.content)
                    found.append(given)
        self.size = len(found)
        return sorted(found, key=lambda given: given.weight)

    def _candidates(self) -> Iterator[tuple[int, Reach, CaseRecipe, str]]:
        """A seed, what is changed, the case that comes of it, and the name of the question's."""
        own = list(self._own.values())
        for seed in SEEDS:
            yield from ((seed, Reach.SAME, case, case.name) for case in own)
        for number, reach, case, origin in variants(own, self.question.spec.checks):
            yield SEEDS[0] + number, reach, case, origin

    def difference(self, program: RemoteProgram) -> Counterexample | None:
        """The smallest input found on which a program differs from the reference."""
        for given in self._inputs:
            program.worker.count_anew()  # what may be printed in a grade, for each input
            if (found := self._differs(program, given)) is not None:
                return self._counterexample(given, *found)
        return None

    def _evaluation(self, seed: int, cases: dict[str, CaseRecipe]) -> Evaluation:
        reference = self.session.bank.reference
        evaluation = Evaluation(self.question, seed, reference, reference)
        evaluation.cases = cases
        return evaluation

    def _usable(self, given: _Input, known: set[int]) -> bool:
        """Whether the reference takes a new input, quickly, and agrees with itself in float64."""
        evaluation, run, case = given.evaluation, given.run, given.case
        try:
            size = sum(np.size(v) for v in evaluation.drawn(case).values())
            if size > LARGE or given.content in known:
                return False
            began = time.perf_counter()
            truth = evaluation.truth(run, case)
            if time.perf_counter() - began > SLOW:
                return False
            return self._domain.holds(evaluation, run, case, given.origin) and not any(
                self._fault(given, result, truth) for result in evaluation.wanted[run]
            )
        except (BankFault, KeyError):
            self.session.bank.restore()  # the input may have been too much for its process
            return False

    def _differs(self, program: RemoteProgram, given: _Input) -> tuple[str | None, str] | None:
        """The result that differs on one input, and how."""
        evaluation, run, case = given.evaluation, given.run, given.case
        truth = evaluation.truth(run, case)
        try:
            found = program.run(
                evaluation.steps(run), evaluation.inputs(case, run), evaluation.wanted[run]
            )
        except (ProgramError, WorkerError) as error:  # it raises, hangs or dies
            return None, f"the mutant {error}"
        for result in evaluation.wanted[run]:
            if (fault := self._fault(given, result, found)) is not None:
                return result, fault
        return _manners(found, truth)

    def _fault(self, given: _Input, result: str, outcome: Outcome) -> str | None:
        """How a result differs from the reference's, if it does."""
        evaluation, run, case = given.evaluation, given.run, given.case
        if (run, result) in self._loose:  # a curve follows its own rounding: where does it go?
            return _course(
                result, outcome.values.get(result), evaluation.truth(run, case).values[result]
            )
        fault = fault_of(evaluation, run, case, result, outcome)
        if fault is None:
            return None
        if fault.kind == "values" and fault.observed not in fault.sentence:
            return f"{fault.sentence}: {fault.observed}, expected {fault.expected}"
        return fault.sentence

    def _counterexample(self, given: _Input, result: str | None, sentence: str) -> Counterexample:
        inputs, seed = ", ".join(written(given.case, given.names)), given.evaluation.seed
        advice = self._advice(given, result)
        return Counterexample(
            given.reach, given.run, given.origin, inputs, seed, result, sentence, advice
        )

    def _advice(self, given: _Input, result: str | None) -> str:
        checks = [
            c.id
            for c in self.question.spec.checks
            if c.run == given.run and not c.stretch and (not result or result in c.compared)
        ]
        names = " or ".join(checks[:3]) or "a new check"
        if (given.run, result) in self._loose:
            return f"{names} only asks where the curve ends: compare {result} by kind outputs"
        if given.reach is not Reach.SAME:
            return f"add this case, and let {names} look at it"
        return f"let {names} look at {given.origin}, with more draws or numbers that are written"


def _course(result: str, observed: Value, wanted: Value) -> str | None:
    """Whether a curve goes elsewhere, seen from its highest point."""
    try:
        found, right = (np.asarray(v, np.float64) for v in (observed, wanted))
    except (TypeError, ValueError):
        return f"{result} is no list of numbers"
    atol = CURVE * np.abs(right[np.isfinite(right)]).max(initial=0.0)
    if found.shape == right.shape and np.allclose(found, right, rtol=0, atol=atol, equal_nan=True):
        return None
    return f"{result} takes another course"


def _manners(found: Outcome, truth: Outcome) -> tuple[str | None, str] | None:
    """What a program does to its caller's arrays that the reference does not."""
    for _, name in set(found.changed) - set(truth.changed):
        return None, f"the mutant changes its caller's {name}"
    for result, name in set(found.shared) - set(truth.shared):
        return result, f"{result} shares its memory with {name}"
    for result, _ in set(found.stale) - set(truth.stale):
        return result, f"{result} is changed by a later step"
    return None
