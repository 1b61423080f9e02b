"""Hold a program against the reference on many more inputs than a grade has.

The inputs are those of the question's cases: drawn again from other seeds; in other sizes, dtypes
and layouts; with other numbers, out of what the cases give each name.  What the reference itself
does not take is left out.  They are tried from the smallest on, and what is found is made smaller
still, so that a counterexample can be read.
"""

from __future__ import annotations

import random
import time
from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from grader.audit.domain import Domain
from grader.audit.vary import smaller, varied, written
from grader.bench.bench import BankFault, Bench
from grader.bench.deviation import fault_of
from grader.cases.dataflow import free_names
from grader.cases.recipe import CaseRecipe, read_cases
from grader.kinds import registry
from grader.model.mutation import Counterexample, Reach
from grader.sandbox.client import WorkerError
from grader.sandbox.remote import RemoteProgram
from grader.sandbox.replies import Outcome, ProgramError

if TYPE_CHECKING:
    from grader.model.question import Question
    from grader.session import GradingSession

SEEDS = range(7001, 7009)  # none that an audit uses
KINDS = (Reach.VALUES, Reach.SIZES, Reach.NUMBERS)
VARIANTS = 18  # of each case, as many of each kind
SLOW = 0.1  # seconds of the reference beyond which an input is not worth it
CURVE = 1e-4  # of its highest point, by which a curve may stray
LARGE = 20_000  # entries beyond which a right but slow program would seem to hang
STEPS = 60  # in making a counterexample smaller


@dataclass(frozen=True, slots=True)
class _Input:
    """One input to try."""

    reach: Reach
    bench: Bench
    run: str
    case: CaseRecipe
    origin: str  # the case of the question


class Search:
    """The inputs of a question's search, drawn once and used for every program."""

    def __init__(self, session: GradingSession) -> None:
        """Draw nothing yet: most searches are never needed."""
        self.session = session
        self.question = session.question
        self._inputs: list[_Input] | None = None
        self._last: _Input | None = None
        self._domain: Domain | None = None
        # Results of which every check that compares them asks only where they go.
        followed: dict[tuple[str, str], bool] = {}
        for check in self.question.spec.checks:
            only_course = registry.get(check.kind).only_course
            for result in check.compared:
                key = (check.run, result)
                followed[key] = followed.get(key, True) and only_course
        self._loose = {key for key, loosely in followed.items() if loosely}

    @property
    def size(self) -> int:
        """Inputs in use; 0 before the first search."""
        return len(self._inputs or ())

    def difference(self, program: RemoteProgram) -> Counterexample | None:
        """The smallest input found on which a program differs from the reference.

        Raises:
            WorkerError: the program's process is gone.
        """
        if self._inputs is None:
            self._inputs = sorted(self._collect(), key=_weight)
        for given in self._inputs:
            self._last = given
            program.worker.count_anew()  # what may be printed in a grade, for each input
            if (found := self._differs(program, given)) is not None:
                return self._least(program, given, found)
        return None

    def died(self, failure: WorkerError) -> Counterexample:
        """The counterexample of a program whose process did not survive the last input."""
        assert self._last is not None
        return self._counterexample(self._last, "", f"the mutant {failure}")

    def _collect(self) -> Iterator[_Input]:
        """Every input that the reference takes, quickly enough."""
        question = self.question
        bench = self._bench(SEEDS[0], read_cases(question.spec.cases)[0])
        own = bench.cases
        self._domain = Domain(question, bench)
        plans: list[tuple[int, Reach, dict[str, CaseRecipe], dict[str, str]]] = [
            (seed, Reach.SAME, own, {name: name for name in own}) for seed in SEEDS
        ]
        layouts = _layouts(question)
        for number in range(VARIANTS):
            rng = random.Random(number)
            reach = KINDS[number % len(KINDS)]
            cases, origins = {}, {}
            for name, case in own.items():
                made = varied(case, list(own.values()), rng, reach, layouts)
                if made is not None:
                    cases[f"{name}-{number}"] = replace(made, name=f"{name}-{number}")
                    origins[f"{name}-{number}"] = name
            plans.append((SEEDS[0] + number, reach, cases, origins))
        known: set[int] = set()
        for seed, reach, cases, origins in plans:
            bench = self._bench(seed, cases)
            for name, case in cases.items():
                for run in question.runs:
                    takes = set(free_names(bench.steps(run))) <= case.inputs.keys()
                    given = _Input(reach, bench, run, case, origins[name])
                    if takes and self._usable(given, known):
                        known.add(_content(given))
                        yield given

    def _bench(self, seed: int, cases: Mapping[str, CaseRecipe]) -> Bench:
        reference = self.session.bank.reference
        bench = Bench(self.question, seed, reference, reference)
        bench.cases = dict(cases)
        return bench

    def _usable(self, given: _Input, known: Container[int] = ()) -> bool:
        """Whether the reference takes an input, quickly, and agrees with itself in float64.

        Args:
            given: the input.
            known: the content of inputs in use already.
        """
        bench, run, case = given.bench, given.run, given.case
        try:
            if sum(np.size(v) for v in bench.drawn(case).values()) > LARGE:
                return False
            if _content(given) in known:
                return False
            began = time.perf_counter()
            truth = bench.truth(run, case)
            if time.perf_counter() - began > SLOW:
                return False
            if self._domain and not self._domain.holds(bench, run, case, given.origin):
                return False
            return all(
                _fault(result, truth, bench, run, case, self._loose) is None
                for result in bench.wanted[run]
            )
        except (BankFault, KeyError):
            self.session.bank.restore()  # the input may have been too much for its process
            return False

    def _differs(self, program: RemoteProgram, given: _Input) -> tuple[str, str] | None:
        """The result that differs on one input, and how."""
        bench, run, case = given.bench, given.run, given.case
        truth = bench.truth(run, case)
        wanted = bench.wanted[run]
        try:
            found = program.run(bench.steps(run), bench.inputs(case, run), wanted)
        except ProgramError as error:
            return "", f"the mutant {error}"
        for result in wanted:
            fault = _fault(result, found, bench, run, case, self._loose)
            if fault is not None:
                return result, fault
        return _manners(found, truth)

    def _least(
        self, program: RemoteProgram, given: _Input, found: tuple[str, str]
    ) -> Counterexample:
        """Make an input smaller as long as the program still differs on it."""
        left = 0 if given.reach is Reach.SAME else STEPS
        candidates = smaller(given.case)
        while left and (case := next(candidates, None)) is not None:
            left -= 1
            bench = self._bench(given.bench.seed, {case.name: case})
            there = _Input(given.reach, bench, given.run, case, given.origin)
            if not self._usable(there):
                continue
            self._last = there
            if (again := self._differs(program, there)) is not None:
                given, found, candidates = there, again, smaller(case)
        return self._counterexample(given, *found)

    def _counterexample(self, given: _Input, result: str, sentence: str) -> Counterexample:
        return Counterexample(
            reach=given.reach,
            run=given.run,
            case=given.origin,
            inputs=", ".join(written(given.case, free_names(given.bench.steps(given.run)))),
            seed=given.bench.seed,
            result=result,
            sentence=sentence,
            advice=self._advice(given, result),
        )

    def _advice(self, given: _Input, result: str) -> str:
        checks = self._checks_of(given.run, result)
        if (given.run, result) in self._loose:
            return (
                f"{' and '.join(checks)} only asks where the curve ends: compare {result}, or what "
                "makes it, by a check of kind outputs"
            )
        listed = " or ".join(checks[:3]) or "a new check"
        if given.reach is not Reach.SAME:
            return f"add this case, and let {listed} look at it"
        if self._compared(given, result):
            return (
                f"{listed} sees it on some seeds only: give the case {given.origin} more entries, "
                "or write them out"
            )
        return f"no check that decides compares it there: let {listed} look at {given.origin} too"

    def _checks_of(self, run: str, result: str) -> list[str]:
        return [
            c.id
            for c in self.question.spec.checks
            if c.run == run and not c.stretch and (not result or result in c.compared)
        ]

    def _compared(self, given: _Input, result: str) -> bool:
        """Whether a check that decides looks at a result on a case of the question."""
        wanted = self._checks_of(given.run, result)
        return any(
            given.origin in {case.name for case in given.bench.cases_of(check)}
            for check in self.question.spec.checks
            if check.id in wanted
        )


def _fault(
    result: str,
    outcome: Outcome,
    bench: Bench,
    run: str,
    case: CaseRecipe,
    loose: set[tuple[str, str]],
) -> str | None:
    """How a result differs from the reference's, if it does."""
    if (run, result) in loose:  # a curve follows its own rounding: what it shows is where it goes
        return _course(result, outcome.values.get(result), bench.truth(run, case).values[result])
    fault = fault_of(bench, run, case, result, outcome)
    if fault is None:
        return None
    figures = fault.kind == "values" and fault.observed not in fault.sentence
    return (
        f"{fault.sentence}: {fault.observed}, expected {fault.expected}"
        if figures
        else fault.sentence
    )


def _course(
    result: str,
    observed: Any,  # noqa: ANN401 any result
    wanted: Any,  # noqa: ANN401 any result
) -> str | None:
    """Whether a curve goes elsewhere, seen from its highest point."""
    try:
        mine, theirs = (np.asarray(v, np.float64) for v in (observed, wanted))
    except (TypeError, ValueError):
        return f"{result} is no list of numbers"
    scale = np.abs(theirs[np.isfinite(theirs)]).max(initial=0.0)
    alike = mine.shape == theirs.shape and np.allclose(
        mine, theirs, rtol=0, atol=CURVE * scale, equal_nan=True
    )
    return None if alike else f"{result} takes another course"


def _content(given: _Input) -> int:
    """A number that two inputs share if programs see no difference: few cases are all random."""
    case, drawn = given.case, given.bench.drawn(given.case)
    parts: list[object] = [given.run, case.dtype, case.layout]
    for name in free_names(given.bench.steps(given.run)):
        value, recipe = drawn[name], case.inputs[name]
        if isinstance(value, np.ndarray):
            form = (recipe.dtype, recipe.layout, value.dtype.str, value.shape)
            parts += [name, form, value.tobytes()]
        else:
            parts += [name, repr(value)]
    return hash(tuple(parts))


def _weight(given: _Input) -> tuple[int, tuple[int, int]]:
    return list(Reach).index(given.reach), given.bench.weight(given.case)


def _manners(found: Outcome, truth: Outcome) -> tuple[str, str] | None:
    """What a program does to its caller's arrays that the reference does not."""
    for _, name in set(found.changed) - set(truth.changed):
        return "", f"the mutant changes its caller's {name}"
    for result, name in set(found.shared) - set(truth.shared):
        return result, f"{result} shares its memory with {name}"
    for result, _ in set(found.stale) - set(truth.stale):
        return result, f"{result} is changed by a later step"
    return None


def _layouts(question: Question) -> list[str]:
    """The layouts that the question says it checks."""
    found = [n for c in question.spec.checks for n in registry.get(c.kind).layouts(c)]
    return list(dict.fromkeys(found))
