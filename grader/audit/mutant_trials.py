"""Which wrong answers would a question accept?  Mutants of its reference show it.

Every mutant goes through the checks on every seed, the likeliest to kill it first, until one does.
One that is killed on some seeds only is *flaky*: whether a grade finds it is luck.  What passes
them all on every seed is held against the reference on many more inputs: where it never differs it
is equivalent, and counts for nothing; otherwise it is a survivor, a wrong answer that a candidate
could hand in and pass.  A survivor may be explained in the spec; an explanation of one that is
killed, or that no longer exists, is stale, and that is a fault.

The further inputs are those of the question's cases: drawn again from other seeds; in other sizes,
dtypes and layouts; with other numbers, out of what the cases give each name.  What the reference
itself does not take is left out.  They are tried from the smallest on, so that a counterexample can
be read.

A bound needs cases at it and on both sides.  So `<` in place of `<=` in the reference has to be
killed or explained, and whatever moves a number that the contract names, where the reference or an
accepted solution compares with it: the search, which hardly ever draws two numbers that are equal,
and measures no memory, is no excuse.
"""

from __future__ import annotations

import math
import re
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from grader import forms
from grader.audit.kill_matrix import MORE_DRAWS_ADVICE, list_seeds, result_of_check
from grader.cases.recipe import CaseRecipe, cases_of_check, read_cases, run_inputs
from grader.cases.vary import format_inputs
from grader.explain.extra_cases import InputDomain, case_variations, input_fingerprint
from grader.explain.session import GradingSession
from grader.grading.bank_programs import ACCEPTED_PREFIX
from grader.grading.compare import find_mismatch
from grader.grading.evaluation import BankProgramError, Evaluation, blame_bank
from grader.grading.kinds import registry
from grader.grading.values import Value
from grader.model.audit import Counterexample, MutantFate, MutantTrial, MutationReport
from grader.model.limits import MAX_REFERENCE_SECONDS, MIN_MUTANT_CALL_SECONDS, MUTANT_CALL_FACTOR
from grader.model.mutants import Mutant, Reach, mutant_key
from grader.model.number_format import format_count
from grader.model.question import Question
from grader.model.report import NON_FAILING_VERDICTS, CheckResult
from grader.model.spec import Check
from grader.sandbox.client import LimitExceeded, WorkerError
from grader.sandbox.messages import Outcome, ProgramError
from grader.sandbox.remote_program import RemoteProgram
from grader.sandbox.worker.protocol import MOVED_BOUND_RULE

SEARCH_TIME_FACTOR = (
    8  # times as long for a call on further inputs: what takes longer is taken to hang
)
MUTANT_NAME = "mutant"
MIN_NUMBER_WITH_NEIGHBORS = (
    100  # a number from here on may be said as the one before or after it, or its root
)
SEARCH_SEEDS = range(7001, 7009)  # of further inputs: none that an audit uses
CURVE_TOLERANCE = 1e-4  # of its highest point, by which a curve may stray
MAX_SEARCHED_ENTRIES = 20_000  # entries beyond which a right but slow program would seem to hang


def try_mutants(
    question: Question,
    *,
    seeds: Sequence[int],
    at_most: int | None = None,
    progress: Callable[[str], None] = lambda _: None,
) -> MutationReport:
    """Try the mutants of a question's reference, or a sample of at most so many.

    After a KeyboardInterrupt the report is of what was tried until then; `progress` gets a line on
    each mutant.
    """
    began = time.perf_counter()
    mutants: Sequence[Mutant] = ()
    trials: list[MutantTrial] = []
    faults: list[str] = []
    interrupted = False
    searched = 0
    try:
        with GradingSession(question) as session, np.errstate(all="ignore"):
            with blame_bank("no mutants can be derived from the reference"):
                found = (*session.bank.reference.derive_mutants(), *_bounds(session))
                mutants = [
                    *{(m.accepted_solution, m.start, m.end, m.text): m for m in found}.values()
                ]
            trying = _Trying(session, seeds)
            trying.measure()
            chosen = sample_mutants(mutants, at_most)
            for number, mutant in enumerate(chosen, 1):
                alive = sum(t.fate is MutantFate.SURVIVED for t in trials)
                progress(f"{question.id}: mutant {number} of {len(chosen)}, {alive} survived")
                trials.append(trying.trial(mutant))
                searched = trying.search.size
    except BankProgramError as fault:
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


def contract_numbers(clauses: Iterable[str]) -> set[float]:
    """The numbers of a contract, and their neighbors and roots, by which code may say them.

    Up to 3 they mostly count axes, and mutants of the reference move every number anyway.
    """
    found = set()
    for word in re.findall(r"(?<![\w.])\d+(?:,\d{3})*(?:\.\d+)?(?:e-?\d+)?", " ".join(clauses)):
        number = float(word.replace(",", ""))
        if number > 3 or not number.is_integer():
            found.add(number)
        if number.is_integer() and number >= MIN_NUMBER_WITH_NEIGHBORS:
            found |= {number - 1, number + 1}
            found |= {math.sqrt(number)} if math.sqrt(number).is_integer() else set()
    return found


def _bounds(session: GradingSession) -> Iterator[Mutant]:
    """What moves a bound of the contract, in the reference and in every whole accepted program."""
    question = session.question
    spec, numbers = question.spec, contract_numbers(question.spec.contract)
    programs = {"": question.reference}
    if not forms.form_of(spec).is_text:
        whole = (n for n in question.accepted if question.accepted_until_part[n] == len(spec.parts))
        programs |= {f"{ACCEPTED_PREFIX}{name}.": question.accepted[name] for name in whole}
    for place, source in programs.items() if numbers else ():
        for mutant in session.bank.reference.derive_mutants(source, numbers):
            yield replace(mutant, scope=f"{place}{mutant.scope}")


def sample_mutants(mutants: Sequence[Mutant], at_most: int | None) -> list[Mutant]:
    """At most so many mutants, in the order of the source; the same ones each time."""
    taken = sorted(range(len(mutants)), key=lambda i: mutants[i].rank)[:at_most]
    return [mutants[i] for i in sorted(taken)]


def _problems(
    question: Question,
    mutants: Sequence[Mutant],
    trials: Sequence[MutantTrial],
    seeds: int,
    *,
    complete: bool,
) -> Iterator[str]:
    if survivors := sum(t.fate is MutantFate.SURVIVED for t in trials):
        count = format_count(survivors, "wrong mutant passes", "wrong mutants pass")
        yield f"{count} every check: add a case or a check, or explain it"
    fates: dict[tuple[str, str, str], set[MutantFate]] = {}
    for trial in trials:
        mutant, passing = trial.mutant, trial.passing_seeds
        fates.setdefault(mutant.key, set()).add(trial.fate)
        if trial.fate is MutantFate.FLAKY:
            yield (
                f"the mutant of {mutant.scope}, line {mutant.line}, that reads "
                f"{mutant.becomes!r}, is stopped on {seeds - len(passing)} of {seeds} seeds, and "
                f"passes every check on {list_seeds(passing)}: {MORE_DRAWS_ADVICE}"
            )
    known = {m.key for m in mutants}
    for index, item in enumerate(question.spec.survivors):
        where = f"survivors[{index}] ({item.scope}: {item.becomes})"
        wanted = mutant_key(item.scope, item.was, item.becomes)
        if known and wanted not in known:
            yield f"{where}: no mutant of the reference matches; remove the explanation"
        elif complete and fates[wanted] == {MutantFate.KILLED}:
            yield f"{where}: a check kills it; remove the explanation"


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
            if not c.stretch and registry.kind_named(c.kind).decides_on_every_machine(c)
        ]
        self.search = Search(session)
        self.explained = {
            mutant_key(s.scope, s.was, s.becomes): s.because
            for s in session.question.spec.survivors
        }
        self.call_seconds = MIN_MUTANT_CALL_SECONDS

    def measure(self) -> None:
        """See that the reference passes, and how long its calls take.

        Raises:
            BankFault: it does not pass.
        """
        for seed in self.seeds:
            evaluation = self.session.evaluate_bank_program(
                "unchanged", [self.session.question.reference], seed
            )
            for check in self.checks:
                for case in evaluation.cases_of(check):
                    began = time.perf_counter()
                    evaluation.reference_outcome(check.run, case)
                    spent = time.perf_counter() - began  # next to nothing, the second time
                    self.call_seconds = max(self.call_seconds, MUTANT_CALL_FACTOR * spent)
            if (killer := self._killer(evaluation)[0]) is not None:
                raise BankProgramError(f"the reference does not pass {killer}: audit it first")

    def trial(self, mutant: Mutant) -> MutantTrial:
        """Try one mutant on every seed, and look further where no check kills it on any."""
        question = self.session.question
        name = mutant.accepted_solution
        source = mutant.mutated_source(question.accepted[name] if name else question.reference)
        killers: dict[int, str] = {}
        passing: list[int] = []
        for seed in self.seeds:
            likely = next(iter(killers.values()), "")
            try:
                evaluation, killer, certain = self._tried(source, seed, likely)
            except BankProgramError:
                return MutantTrial(mutant, MutantFate.KILLED, "loading", seed)
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
            evaluation.submission.call_seconds = SEARCH_TIME_FACTOR * self.call_seconds
            found = None if name else self.search.find_counterexample(evaluation.submission)
            alive = found is not None or mutant.rule == MOVED_BOUND_RULE
            fate = MutantFate.SURVIVED if alive else MutantFate.EQUIVALENT
            return MutantTrial(mutant, fate, counterexample=found)
        if not killers:
            return MutantTrial(mutant, MutantFate.EXPLAINED, because=because)
        on, killer = next(iter(killers.items()))
        self.kills[killer] += 1
        fate = (
            MutantFate.KILLED
            if not passing
            else MutantFate.FLAKY
            if because is None
            else MutantFate.EXPLAINED
        )
        return MutantTrial(mutant, fate, killer, on, tuple(passing), because)

    def _tried(self, source: bytes, seed: int, likely: str) -> tuple[Evaluation, str | None, bool]:
        """The evaluation, the check that kills a mutant on one seed, and whether on all others too.

        Raises:
            BankFault: it cannot be loaded.
        """
        for patience in (1, 3):  # a busy machine must not count as a kill
            evaluation = self.session.evaluate_bank_program(MUTANT_NAME, [source], seed)
            evaluation.submission.call_seconds = patience * self.call_seconds
            killer, certain = self._killer(evaluation, likely)
            if not isinstance(evaluation.submission.worker.failure, LimitExceeded):
                break
        return evaluation, killer, certain

    def _killer(self, evaluation: Evaluation, likely: str = "") -> tuple[str | None, bool]:
        """The check that the evaluation's program does not pass, and whether on every seed."""

        def order(check: Check) -> tuple[bool, bool, int]:
            slow = registry.kind_named(check.kind).stops_late
            return check.id != likely, slow, -self.kills[check.id]

        for check in sorted(self.checks, key=order):
            result = result_of_check(evaluation, check)
            if result.verdict not in NON_FAILING_VERDICTS:
                return check.id, _is_certain(evaluation, check, result)
        return None, False


def _is_certain(evaluation: Evaluation, check: Check, result: CheckResult) -> bool:
    """Whether a program that a check does not pass is stopped by it on every seed.

    It is where inputs that are written out show it, or what is counted, which follows from sizes.
    """
    fixed = (
        not any(recipe.is_drawn for recipe in evaluation.cases[name].inputs.values())
        for name in result.failing
    )
    return registry.kind_named(check.kind).shows_measurement or any(fixed)


# -- further inputs --------------------------------------------------------------------------------


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
        return list(run_inputs(self.evaluation.steps(self.run)))

    @property
    def weight(self) -> tuple[int, tuple[int, int]]:
        """How far it is from the question's cases, and how large."""
        return list(Reach).index(self.reach), self.evaluation.display_order(self.case)

    @property
    def truth(self) -> Outcome:
        """What the reference computes."""
        return self.evaluation.reference_outcome(self.run, self.case)

    @property
    def wanted(self) -> Sequence[str]:
        """The results of the run that are looked at."""
        return self.evaluation.wanted_results[self.run]


class Search:
    """The inputs of a question's search, drawn once and used for every program."""

    def __init__(self, session: GradingSession) -> None:
        """Draw nothing yet: most searches are never needed."""
        self.session = session
        self.checks = session.question.spec.checks
        self.size = 0  # inputs in use
        self._own = read_cases(session.question.spec.cases)[0]

    @cached_property
    def _loose(self) -> set[tuple[str, str]]:
        """Results of which every check that compares them asks only where they go."""
        compared: dict[bool, set[tuple[str, str]]] = {True: set(), False: set()}
        for check in self.checks:
            pairs = ((check.run, result) for result in check.compared_results)
            compared[registry.kind_named(check.kind).compares_final_value_only].update(pairs)
        return compared[True] - compared[False]

    @cached_property
    def _inputs(self) -> list[_Input]:
        """Every input, those nearest to the question's cases first, then the smallest."""
        domain = InputDomain(self._evaluation(SEARCH_SEEDS[0], self._own))
        known: set[int] = set()
        found = []
        for seed, reach, case, origin in self._candidates():
            evaluation = self._evaluation(seed, {case.name: case})
            for run in self.session.question.runs:
                given = _Input(reach, evaluation, run, case, origin)
                if case.inputs.keys() >= set(given.names) and self._usable(given, domain, known):
                    found.append(given)
        self.size = len(found)
        return sorted(found, key=lambda given: given.weight)

    def _candidates(self) -> Iterator[tuple[int, Reach, CaseRecipe, str]]:
        """A seed, what is changed, the case that comes of it, and the name of the question's."""
        own = list(self._own.values())
        for seed in SEARCH_SEEDS:
            yield from ((seed, Reach.SAME, case, case.name) for case in own)
        for number, reach, case, origin in case_variations(own, self.checks):
            yield SEARCH_SEEDS[0] + number, reach, case, origin

    def _evaluation(self, seed: int, cases: dict[str, CaseRecipe]) -> Evaluation:
        reference = self.session.bank.reference
        evaluation = Evaluation(self.session.question, seed, reference, reference)
        evaluation.cases = cases
        return evaluation

    def _usable(self, given: _Input, domain: InputDomain, known: set[int]) -> bool:
        """Whether the reference takes a new input, quickly, and agrees with itself in float64."""
        evaluation, run, case = given.evaluation, given.run, given.case
        try:
            size = sum(np.size(v) for v in evaluation.drawn_inputs(case).values())
            if size > MAX_SEARCHED_ENTRIES:
                return False
            # Two inputs between which programs see no difference: few are all random.
            same = hash((run, input_fingerprint(evaluation, case, given.names)))
            if same in known:
                return False
            began = time.perf_counter()
            truth = given.truth
            if time.perf_counter() - began > MAX_REFERENCE_SECONDS:
                return False
            if not domain.contains(evaluation, run, case, given.origin) or any(
                self._fault(given, result, truth) for result in given.wanted
            ):
                return False
        except (BankProgramError, KeyError):
            # the input may have been too much for its process
            self.session.bank.restore_reference()
            return False
        known.add(same)
        return True

    def find_counterexample(self, program: RemoteProgram) -> Counterexample | None:
        """The smallest input found on which a program differs from the reference."""
        for given in self._inputs:
            program.worker.reset_counters()  # what may be printed in a grade, for each input
            if (found := self._differs(program, given)) is not None:
                result, sentence = found
                return Counterexample(
                    reach=given.reach,
                    run=given.run,
                    case=given.origin,
                    inputs=", ".join(format_inputs(given.case, given.names)),
                    seed=given.evaluation.seed,
                    result=result,
                    sentence=sentence,
                    advice=self._advice(given, result),
                )
        return None

    def _differs(self, program: RemoteProgram, given: _Input) -> tuple[str | None, str] | None:
        """The result that differs on one input, and how."""
        evaluation, run, truth = given.evaluation, given.run, given.truth
        try:
            inputs = evaluation.inputs(given.case, run)
            found = program.run(evaluation.steps(run), inputs, given.wanted)
        except (ProgramError, WorkerError) as error:  # it raises, hangs or dies
            return None, f"the mutant {error}"
        for result in given.wanted:
            if (fault := self._fault(given, result, found)) is not None:
                return result, fault
        # What it does to its caller's arrays that the reference does not.
        for _, name in sorted(set(found.changed) - set(truth.changed)):
            return None, f"the mutant changes its caller's {name}"
        for result, name in sorted(set(found.shared) - set(truth.shared)):
            return result, f"{result} shares its memory with {name}"
        for result, _ in sorted(set(found.stale) - set(truth.stale)):
            return result, f"{result} is changed by a later step"
        return None

    def _fault(self, given: _Input, result: str, outcome: Outcome) -> str | None:
        """How a result differs from the reference's, if it does."""
        if (given.run, result) in self._loose:  # a curve follows its own rounding
            return _course(result, outcome.values.get(result), given.truth.values[result])
        fault = find_mismatch(given.evaluation, given.run, given.case, result, outcome)
        if fault is None:
            return None
        if fault.kind == "values" and fault.observed not in fault.sentence:
            return f"{fault.sentence}: {fault.observed}, expected {fault.expected}"
        return fault.sentence

    def _advice(self, given: _Input, result: str | None) -> str:
        able = (c for c in self.checks if c.run == given.run and not c.stretch)
        checks = [c for c in able if not result or result in c.compared_results]
        if (given.run, result) in self._loose:
            names = " or ".join(c.id for c in checks[:3])
            return f"{names} only asks where the curve ends: compare {result} by kind outputs"
        # What compares values sees every difference on the inputs that it looks at.
        kinds = [registry.kind_named(c.kind) for c in checks]
        whole = [not result or (kind.judges_values and not kind.is_law) for kind in kinds]
        exact = [c for c, every in zip(checks, whole, strict=True) if every]
        runs = self.session.question.runs
        looking = [c.id for c in exact if given.origin in cases_of_check(c, runs[c.run], self._own)]
        ids = [c.id for c in exact if c.id not in looking or given.reach is not Reach.SAME]
        names = " or ".join(ids[:3]) or "a new check of kind outputs"
        if given.reach is not Reach.SAME:
            return f"add this case, and let {names} look at it"
        if result and looking:
            return f"give {given.origin} more draws, or numbers that are written"
        return f"let {names} look at {given.origin}"


def _course(result: str, observed: Value, wanted: Value) -> str | None:
    """Whether a curve goes elsewhere, seen from its highest point."""
    try:
        found, right = (np.asarray(v, np.float64) for v in (observed, wanted))
    except (TypeError, ValueError):
        return f"{result} is no list of numbers"
    atol = CURVE_TOLERANCE * np.abs(right[np.isfinite(right)]).max(initial=0.0)
    if found.shape == right.shape and np.allclose(found, right, rtol=0, atol=atol, equal_nan=True):
        return None
    return f"{result} takes another course"
