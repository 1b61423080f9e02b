"""Try mutants of a question's reference: which wrong answers would the question accept?

A *mutant* is the reference with one small change.  Every mutant goes through the checks on every
seed, until one check kills it.  The checks that are likeliest to kill it come first.  A mutant that
is killed on only some seeds is *flaky*: then luck decides the grade.  A mutant that passes on every
seed is compared with the reference on many more inputs.  If it never differs, it is *equivalent*
and does not count.  Otherwise it *survives*: it is a wrong answer that a candidate could submit and
pass.  The spec may explain a survivor.  The explanation is *stale*, which is a fault, if a check
kills the mutant or if it no longer exists.

The search makes its inputs from the question's cases: drawn from other seeds, in other sizes,
dtypes and layouts, and with other numbers that the cases have for each name.  It leaves out inputs
that the reference does not accept.  It begins with the inputs nearest to the cases, and with the
smallest of these, because a small counterexample is easy to read.

A bound needs cases at it and on both sides.  So some mutants must be killed or explained, even if
the search finds no counterexample: mutants with `<` in place of `<=` in the reference, and mutants
with another number in place of a number of the contract, in a comparison of the reference or of an
accepted solution.  The search could miss a counterexample, because it hardly ever draws two equal
numbers and does not measure memory.
"""

from __future__ import annotations

import math
import re
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from grader import forms
from grader.audit.kill_matrix import MORE_DRAWS_ADVICE, list_seeds, result_of_check
from grader.audit.mutants import MOVED_BOUND_RULE, derive_mutants
from grader.cases.recipe import CaseRecipe, cases_of_check, read_cases, run_inputs
from grader.cases.vary import format_inputs
from grader.explain.extra_cases import InputDomain, case_variations, input_fingerprint
from grader.explain.session import GradingSession
from grader.grading.bank_errors import BankProgramError
from grader.grading.bank_programs import ACCEPTED_PREFIX
from grader.grading.compare import find_mismatch
from grader.grading.evaluation import Evaluation
from grader.grading.kinds.registry import kind_of
from grader.grading.values import Value
from grader.model.audit import Counterexample, MutantFate, MutantTrial, MutationReport
from grader.model.limits import MAX_REFERENCE_SECONDS, MIN_MUTANT_CALL_SECONDS, MUTANT_CALL_FACTOR
from grader.model.mutants import Mutant, Reach, mutant_key
from grader.model.number_format import format_count
from grader.model.question import Question
from grader.model.report import CheckResult
from grader.model.spec import Check
from grader.sandbox.client import LimitExceeded, WorkerError
from grader.sandbox.messages import Outcome, ProgramError
from grader.sandbox.remote_program import RemoteProgram

MUTANT_NAME = "mutant"

PATIENCE_FACTORS = (1, 3)  # a mutant gets a second try: the machine may be busy
SEARCH_TIME_FACTOR = 8  # other inputs may take this much longer; a slower call counts as hanging

MAX_COUNTED_AXES = 3  # integers up to here mostly count axes, and every mutant moves them anyway
MIN_NUMBER_WITH_NEIGHBORS = 100  # from here on, code may use n - 1, n + 1 or the root of n

SEARCH_SEEDS = range(7001, 7009)  # no audit uses these
MAX_SEARCHED_ENTRIES = 20_000  # with more entries a right but slow program would seem to hang
CURVE_TOLERANCE = 1e-4  # share of the curve's highest point
MAX_ADVISED_CHECKS = 3


def try_mutants(
    question: Question,
    *,
    seeds: Sequence[int],
    at_most: int | None = None,
    progress: Callable[[str], None] = lambda _: None,
) -> MutationReport:
    """Try all mutants of a question, or a sample of `at_most`, on every seed.

    After a KeyboardInterrupt the report covers the mutants that were tried before.  `progress` gets
    a line on each mutant.
    """
    began = time.perf_counter()
    mutants: Sequence[Mutant] = ()
    trials: list[MutantTrial] = []
    problems: list[str] = []
    interrupted = False
    searched = 0
    try:
        with GradingSession(question) as session, np.errstate(all="ignore"):
            mutants = _all_mutants(question)
            trier = _MutantTrier(session, seeds)
            trier.measure_reference()
            sample = sample_mutants(mutants, at_most)
            for number, mutant in enumerate(sample, 1):
                survivors = sum(trial.fate is MutantFate.SURVIVED for trial in trials)
                progress(f"{question.id}: mutant {number} of {len(sample)}, {survivors} survived")
                trials.append(trier.trial(mutant))
                searched = trier.search.size
    except BankProgramError as error:
        problems.append(str(error))
    except KeyboardInterrupt:
        interrupted = True
    is_complete = len(trials) == len(mutants) and not problems
    problems += _trial_problems(trials, len(seeds))
    problems += _stale_explanations(question, mutants, trials, is_complete=is_complete)
    return MutationReport(
        question=question.id,
        derived=len(mutants),
        trials=tuple(trials),
        seeds=tuple(seeds),
        searched=searched,
        seconds=time.perf_counter() - began,
        problems=tuple(problems),
        interrupted=interrupted,
    )


# -- mutants --------------------------------------------------------------------------------------


def _all_mutants(question: Question) -> list[Mutant]:
    """Return the mutants of the reference, and those that move a bound of the contract.

    Bounds are moved in the reference and in every accepted solution that solves all parts, but not
    in accepted answers that are text.

    Raises:
        BankProgramError: mutants cannot be derived.
    """
    spec = question.spec
    mutants = derive_mutants(question.reference)
    numbers = contract_numbers(spec.contract)
    if numbers:
        mutants += derive_mutants(question.reference, numbers)
        if not forms.form_of(spec).is_text:
            for name, source in question.accepted.items():
                if question.accepted_until_part[name] == len(spec.parts):
                    mutants += derive_mutants(source, numbers, f"{ACCEPTED_PREFIX}{name}.")
    distinct = {(mutant.accepted_solution, mutant.source): mutant for mutant in mutants}
    return list(distinct.values())


def contract_numbers(clauses: Iterable[str]) -> set[float]:
    """Return the numbers of a contract, with neighbors and roots that code may use instead.

    1024 gives 1023, 1024, 1025 and 32; below 100 a number gives only itself.  Integers up to 3 are
    left out.
    """
    numbers: set[float] = set()
    for word in re.findall(r"(?<![\w.])\d+(?:,\d{3})*(?:\.\d+)?(?:e-?\d+)?", " ".join(clauses)):
        number = float(word.replace(",", ""))
        if number > MAX_COUNTED_AXES or not number.is_integer():
            numbers.add(number)
        if number.is_integer() and number >= MIN_NUMBER_WITH_NEIGHBORS:
            numbers |= {number - 1, number + 1}
            root = math.sqrt(number)
            if root.is_integer():
                numbers.add(root)
    return numbers


def sample_mutants(mutants: Sequence[Mutant], at_most: int | None) -> list[Mutant]:
    """Return `at_most` mutants (None: all) in their order; each time the same ones."""
    sample = set(sorted(mutants, key=lambda mutant: mutant.rank)[:at_most])
    return [mutant for mutant in mutants if mutant in sample]


# -- problems -------------------------------------------------------------------------------------


def _trial_problems(trials: Sequence[MutantTrial], seeds: int) -> Iterator[str]:
    """Yield a sentence on all survivors, and one on each flaky mutant."""
    if survivors := sum(trial.fate is MutantFate.SURVIVED for trial in trials):
        count = format_count(survivors, "wrong mutant passes", "wrong mutants pass")
        yield f"{count} every check: add a case or a check, or explain it"
    for trial in trials:
        if trial.fate is not MutantFate.FLAKY:
            continue
        mutant = trial.mutant
        stopped = seeds - len(trial.passing_seeds)
        yield (
            f"the mutant of {mutant.scope}, line {mutant.line}, that reads "
            f"{mutant.becomes!r}, is stopped on {stopped} of {seeds} seeds, and "
            f"passes every check on {list_seeds(trial.passing_seeds)}: {MORE_DRAWS_ADVICE}"
        )


def _stale_explanations(
    question: Question,
    mutants: Sequence[Mutant],
    trials: Sequence[MutantTrial],
    *,
    is_complete: bool,
) -> Iterator[str]:
    """Yield a sentence on each explanation whose mutant does not exist or is killed.

    That it is killed is only said if all mutants were tried (`is_complete`).
    """
    fates: dict[tuple[str, str, str], set[MutantFate]] = {}
    for trial in trials:
        fates.setdefault(trial.mutant.key, set()).add(trial.fate)
    known_keys = {mutant.key for mutant in mutants}
    for index, survivor in enumerate(question.spec.survivors):
        place = f"survivors[{index}] ({survivor.scope}: {survivor.becomes})"
        key = mutant_key(survivor.scope, survivor.was, survivor.becomes)
        if known_keys and key not in known_keys:
            yield f"{place}: no mutant of the reference matches; remove the explanation"
        elif is_complete and fates[key] == {MutantFate.KILLED}:
            yield f"{place}: a check kills it; remove the explanation"


# -- trials ---------------------------------------------------------------------------------------


class _MutantTrier:
    """Tries mutants: first the checks, likeliest killers first, then the search."""

    def __init__(self, session: GradingSession, seeds: Sequence[int]) -> None:
        self.session = session
        self.seeds = seeds
        self.kills: Counter[str] = Counter()
        # Checks that can fail a submission on any machine, and not only by its time.
        self.checks = [
            check
            for check in session.question.spec.checks
            if not check.stretch and kind_of(check).decides_on_every_machine(check)
        ]
        self.search = Search(session)
        self.explanations = {
            mutant_key(survivor.scope, survivor.was, survivor.becomes): survivor.because
            for survivor in session.question.spec.survivors
        }
        self.call_seconds = MIN_MUTANT_CALL_SECONDS

    def measure_reference(self) -> None:
        """Require that the reference passes, and give mutants a multiple of its slowest call.

        Raises:
            BankProgramError: it does not pass.
        """
        for seed in self.seeds:
            evaluation = self.session.evaluate_bank_program(
                "unchanged", [self.session.question.reference], seed
            )
            for check in self.checks:
                for case in evaluation.cases_of(check):
                    began = time.perf_counter()
                    evaluation.reference_outcome(check.run, case)
                    # A case that another check has run takes no time: its results are remembered.
                    seconds = time.perf_counter() - began
                    self.call_seconds = max(self.call_seconds, MUTANT_CALL_FACTOR * seconds)
            kill = self._find_kill(evaluation)
            if kill is not None:
                raise BankProgramError(f"the reference does not pass {kill.id}: audit it first")

    def trial(self, mutant: Mutant) -> MutantTrial:
        """Try a mutant on every seed; search for a counterexample if no check kills it.

        The trial ends early if a check is certain to kill the mutant on all seeds.
        """
        killer = ""  # the first one
        first_seed: int | None = None
        passing_seeds: list[int] = []
        for seed in self.seeds:
            try:
                evaluation, kill = self._try_on_seed(mutant.source, seed, killer)
            except BankProgramError:
                return MutantTrial(mutant, MutantFate.KILLED, "loading", seed)
            if kill is None:
                passing_seeds.append(seed)
                continue
            if not killer:
                killer = kill.id
                first_seed = seed
            if _fails_on_every_seed(evaluation, kill):
                passing_seeds.clear()
                break

        because = self.explanations.get(mutant.key) if passing_seeds else None
        if not killer:
            if because is not None:
                return MutantTrial(mutant, MutantFate.EXPLAINED, because=because)
            return self._search_for(mutant, evaluation.subject)
        self.kills[killer] += 1
        if not passing_seeds:
            fate = MutantFate.KILLED
        elif because is None:
            fate = MutantFate.FLAKY
        else:
            fate = MutantFate.EXPLAINED
        return MutantTrial(mutant, fate, killer, first_seed, tuple(passing_seeds), because)

    def _search_for(self, mutant: Mutant, program: RemoteProgram) -> MutantTrial:
        """Search for a counterexample of a mutant that passes every check on every seed.

        A mutant with a moved bound survives even without a counterexample.  If it is a mutant of an
        accepted solution, it always has a moved bound, and there is no search.
        """
        program.call_seconds = SEARCH_TIME_FACTOR * self.call_seconds
        counterexample = None
        if not mutant.accepted_solution:
            counterexample = self.search.find_counterexample(program)
        if counterexample is not None or mutant.rule == MOVED_BOUND_RULE:
            fate = MutantFate.SURVIVED
        else:
            fate = MutantFate.EQUIVALENT
        return MutantTrial(mutant, fate, counterexample=counterexample)

    def _try_on_seed(
        self, source: bytes, seed: int, likely_killer: str
    ) -> tuple[Evaluation, CheckResult | None]:
        """Return the evaluation of a mutant on one seed, and the failing result, if any.

        If the mutant exceeds a limit, it is tried a second time with more time per call.  The check
        `likely_killer` runs first.

        Raises:
            BankProgramError: it cannot be loaded.
        """
        for factor in PATIENCE_FACTORS:
            evaluation = self.session.evaluate_bank_program(MUTANT_NAME, [source], seed)
            evaluation.subject.call_seconds = factor * self.call_seconds
            kill = self._find_kill(evaluation, likely_killer)
            if not isinstance(evaluation.subject.worker.failure, LimitExceeded):
                break
        return evaluation, kill

    def _find_kill(self, evaluation: Evaluation, likely_killer: str = "") -> CheckResult | None:
        """Run checks, the likeliest killers first; return the first failing result, or None."""

        def order(check: Check) -> tuple[bool, bool, int]:
            is_slow = kind_of(check).stops_late
            return check.id != likely_killer, is_slow, -self.kills[check.id]

        for check in sorted(self.checks, key=order):
            result = result_of_check(evaluation, check)
            if result.fails:
                return result
        return None


def _fails_on_every_seed(evaluation: Evaluation, result: CheckResult) -> bool:
    """Return True if a program that fails a check on one seed is certain to fail it on every seed.

    It is certain if a case with written inputs fails, or if the check counts something, because a
    count follows from sizes.
    """
    if kind_of(result).shows_measurement:
        return True
    for name in result.failing:
        if not any(recipe.is_drawn for recipe in evaluation.cases[name].inputs.values()):
            return True
    return False


# -- search for counterexamples -------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _SearchInput:
    """One input of the search: a case, and the run that reads it."""

    reach: Reach
    evaluation: Evaluation
    run: str
    case: CaseRecipe
    origin: str  # the name of the question's case that was changed

    @property
    def input_names(self) -> list[str]:
        """Inputs of the case that the run reads."""
        return list(run_inputs(self.evaluation.steps(self.run)))

    @property
    def expected(self) -> Outcome:
        """The reference's results."""
        return self.evaluation.reference_outcome(self.run, self.case)

    @property
    def compared_names(self) -> Sequence[str]:
        """Results of the run that some check compares."""
        return self.evaluation.wanted_results[self.run]


class Search:
    """The inputs of a question's search, drawn once and used for every program."""

    def __init__(self, session: GradingSession) -> None:
        """Draw nothing yet: most searches are never needed."""
        self.session = session
        self.checks = session.question.spec.checks
        self.size = 0  # usable inputs; 0 until the first search
        self._own_cases = read_cases(session.question.spec.cases)[0]

    @cached_property
    def _curves(self) -> set[tuple[str, str]]:
        """The curves: runs and results of which every check compares only the final value."""
        by_final_value: set[tuple[str, str]] = set()
        fully: set[tuple[str, str]] = set()
        for check in self.checks:
            kind = kind_of(check)
            compared = by_final_value if kind.compares_final_value_only else fully
            compared.update((check.run, result) for result in check.compared_results)
        return by_final_value - fully

    @cached_property
    def _inputs(self) -> list[_SearchInput]:
        """All usable inputs, those nearest to the question's cases first, then the smallest."""
        domain = InputDomain(self._evaluation(SEARCH_SEEDS[0], self._own_cases))
        known_inputs: set[int] = set()
        usable = []
        for seed, reach, case, origin in self._candidates():
            evaluation = self._evaluation(seed, {case.name: case})
            for run in self.session.question.runs:
                candidate = _SearchInput(reach, evaluation, run, case, origin)
                if not case.inputs.keys() >= set(candidate.input_names):
                    continue
                if self._is_usable(candidate, domain, known_inputs):
                    usable.append(candidate)
        self.size = len(usable)
        reaches = list(Reach)

        def order(item: _SearchInput) -> tuple[int, tuple[int, int]]:
            return reaches.index(item.reach), item.evaluation.display_order(item.case)

        return sorted(usable, key=order)

    def _candidates(self) -> Iterator[tuple[int, Reach, CaseRecipe, str]]:
        """Yield a seed, the kind of change, the changed case, and the name of the original case."""
        own_cases = list(self._own_cases.values())
        for seed in SEARCH_SEEDS:
            for case in own_cases:
                yield seed, Reach.SAME, case, case.name
        for number, reach, case, origin in case_variations(own_cases, self.checks):
            yield SEARCH_SEEDS[0] + number, reach, case, origin

    def _evaluation(self, seed: int, cases: dict[str, CaseRecipe]) -> Evaluation:
        reference = self.session.bank.reference
        evaluation = Evaluation(self.session.question, seed, reference, reference)
        evaluation.cases = cases
        return evaluation

    def _is_usable(
        self, candidate: _SearchInput, domain: InputDomain, known_inputs: set[int]
    ) -> bool:
        """Return True if an input is new and the reference handles it; remember it then.

        It must be small, and have the properties that all cases of the question share.  The
        reference must be quick on it, and agree within rounding with its own results in float64.
        """
        evaluation = candidate.evaluation
        case = candidate.case
        try:
            entries = sum(np.size(value) for value in evaluation.drawn_inputs(case).values())
            if entries > MAX_SEARCHED_ENTRIES:
                return False
            # No program sees a difference between inputs with the same fingerprint.
            fingerprint = input_fingerprint(evaluation, case, candidate.input_names)
            fingerprint = hash((candidate.run, fingerprint))
            if fingerprint in known_inputs:
                return False
            began = time.perf_counter()
            expected = candidate.expected
            if time.perf_counter() - began > MAX_REFERENCE_SECONDS:
                return False
            if not domain.contains(evaluation, candidate.run, case, candidate.origin):
                return False
            for result in candidate.compared_names:
                if self._mismatch_sentence(candidate, result, expected):
                    return False
        except (BankProgramError, KeyError):
            # The input may have been too much for the reference's process.
            self.session.bank.restore_reference()
            return False
        known_inputs.add(fingerprint)
        return True

    def find_counterexample(self, program: RemoteProgram) -> Counterexample | None:
        """Return the first input on which a program differs from the reference, or None.

        The inputs nearest to the question's cases come first, and of these the smallest.
        """
        for search_input in self._inputs:
            program.worker.reset_counters()  # each input may print as much as a grade
            difference = self._difference(program, search_input)
            if difference is not None:
                result, sentence = difference
                inputs = format_inputs(search_input.case, search_input.input_names)
                return Counterexample(
                    reach=search_input.reach,
                    run=search_input.run,
                    case=search_input.origin,
                    inputs=", ".join(inputs),
                    seed=search_input.evaluation.seed,
                    result=result,
                    sentence=sentence,
                    advice=self._advice(search_input, result),
                )
        return None

    def _difference(
        self, program: RemoteProgram, search_input: _SearchInput
    ) -> tuple[str | None, str] | None:
        """Return the result that differs on an input, and how; None if nothing differs.

        The result is None if the program raises, hangs, dies or changes its arguments.
        """
        evaluation = search_input.evaluation
        run = search_input.run
        expected = search_input.expected
        try:
            inputs = evaluation.inputs(search_input.case, run)
            actual = program.run(evaluation.steps(run), inputs, search_input.compared_names)
        except (ProgramError, WorkerError) as error:
            return None, f"the mutant {error}"
        for result in search_input.compared_names:
            sentence = self._mismatch_sentence(search_input, result, actual)
            if sentence is not None:
                return result, sentence
        # Side effects that the reference does not have.
        for _, name in sorted(set(actual.changed) - set(expected.changed)):
            return None, f"the mutant changes its caller's {name}"
        for result, name in sorted(set(actual.shared) - set(expected.shared)):
            return result, f"{result} shares its memory with {name}"
        for result, _ in sorted(set(actual.stale) - set(expected.stale)):
            return result, f"{result} is changed by a later step"
        return None

    def _mismatch_sentence(
        self, search_input: _SearchInput, result: str, actual: Outcome
    ) -> str | None:
        """Return how a result differs from the reference's result; None if it does not."""
        run = search_input.run
        if (run, result) in self._curves:  # rounding errors of a curve add up
            observed = actual.values.get(result)
            return _curve_difference(result, observed, search_input.expected.values[result])
        mismatch = find_mismatch(search_input.evaluation, run, search_input.case, result, actual)
        if mismatch is None:
            return None
        if mismatch.kind == "values" and mismatch.observed not in mismatch.sentence:
            return f"{mismatch.sentence}: {mismatch.observed}, expected {mismatch.expected}"
        return mismatch.sentence

    def _advice(self, search_input: _SearchInput, result: str | None) -> str:
        """Return how to change the question: which check to add, or which case, for example."""
        run = search_input.run
        origin = search_input.origin
        checks = [
            check
            for check in self.checks
            if check.run == run
            and not check.stretch
            and (not result or result in check.compared_results)
        ]
        if (run, result) in self._curves:
            names = " or ".join(check.id for check in checks[:MAX_ADVISED_CHECKS])
            return f"{names} only asks where the curve ends: compare {result} by kind outputs"

        # A check that compares values sees every difference on the inputs that it looks at.
        if result:
            checks = [check for check in checks if _compares_values(check)]
        steps = self.session.question.runs[run]
        looking = [
            check.id for check in checks if origin in cases_of_check(check, steps, self._own_cases)
        ]
        is_own_case = search_input.reach is Reach.SAME
        ids = [check.id for check in checks if not is_own_case or check.id not in looking]
        names = " or ".join(ids[:MAX_ADVISED_CHECKS]) or "a new check of kind outputs"
        if not is_own_case:
            return f"add this case, and let {names} look at it"
        if result and looking:
            return f"give {origin} more draws, or numbers that are written"
        return f"let {names} look at {origin}"


def _compares_values(check: Check) -> bool:
    """Return True if a check compares results with the reference's results."""
    kind = kind_of(check)
    return kind.judges_values and not kind.is_law


def _curve_difference(result: str, observed: Value, expected: Value) -> str | None:
    """Return a sentence if a curve differs by more than CURVE_TOLERANCE, else None."""
    try:
        actual, right = (np.asarray(curve, np.float64) for curve in (observed, expected))
    except (TypeError, ValueError):
        return f"{result} is no list of numbers"
    highest = np.abs(right[np.isfinite(right)]).max(initial=0.0)
    atol = CURVE_TOLERANCE * highest
    if actual.shape == right.shape and np.allclose(
        actual, right, rtol=0, atol=atol, equal_nan=True
    ):
        return None
    return f"{result} takes another course"
