"""Make extra inputs from the cases of a question: other sizes, numbers, dtypes and ties.

A statement about a few cases may be true by chance: with two rows, a half looks like a mean.  So it
must hold on extra inputs as well.  These have the same draws for every submission, and a session
runs the reference on each of them once.  Nothing is drawn before it is needed.
"""

from __future__ import annotations

import contextlib
import itertools
import random
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np

from grader.cases.draw import DrawError
from grader.cases.recipe import CaseRecipe, run_inputs
from grader.cases.vary import resized_case, vary_case
from grader.explain.observation import all_expected_results, compared_results_of_run
from grader.grading.bank_errors import BankProgramError
from grader.grading.compare import find_mismatch
from grader.grading.evaluation import Evaluation
from grader.grading.kinds import registry
from grader.grading.values import PRECISE, to_array
from grader.model.mutants import Reach
from grader.model.spec import Check
from grader.sandbox.client import WorkerError
from grader.sandbox.messages import ProgramError
from grader.sandbox.worker.wire import Tensor

EXTRA_SEED = 7101  # for the draws; no audit uses it
REACHES = (Reach.VALUES, Reach.SIZES, Reach.NUMBERS)
VARIATIONS_PER_CASE = 18  # a third of them for each of REACHES
MAX_EXTRA_ENTRIES = 3000  # entries of all inputs together; more would take too long
RETRY_FACTOR = 2  # if inputs are refused, up to this many times the wanted number are tried
REDRAWS = 2  # copies of a case with other draws

RunAndName = tuple[str, str]  # a run, and the name of a case
ShapePairs = set[tuple[str, str]]  # an input and a result with equal shapes


def case_variations(
    cases: Sequence[CaseRecipe], checks: Sequence[Check]
) -> Iterator[tuple[int, Reach, CaseRecipe, str]]:
    """Yield up to 18 variations of each case, with other sizes or numbers.

    An item has the number of the variation, the kind of change, the new case, and the name of the
    case that it was made from.  `checks` decide which memory layouts are tried.
    """
    layouts: dict[str, None] = {}
    for check in checks:
        kind = registry.kind_named(check.kind)
        layouts.update(dict.fromkeys(kind.layouts_tried(check)))
    for number in range(VARIATIONS_PER_CASE):
        rng = random.Random(number)
        reach = REACHES[number % len(REACHES)]
        for origin in cases:
            case = vary_case(origin, cases, rng, reach, list(layouts))
            if case is not None:
                yield number, reach, replace(case, name=f"{origin.name}-{number}"), origin.name


# -- which inputs a question is about -------------------------------------------------------------


class InputDomain:
    """The properties that an extra input must share with the question's cases.

    No spec says that a padding is at most half its kernel, or that a gradient has the shape of its
    result.  So a property that holds in every case counts as intended.
    """

    def __init__(self, evaluation: Evaluation) -> None:
        """Learn the properties from all cases of the evaluation."""
        self._evaluation = evaluation
        self._bounds = _find_bounds(evaluation.cases.values())
        self._common: dict[str, ShapePairs] = {}  # by run: pairs in all cases of its checks
        for check in evaluation.checks:
            for case in evaluation.cases_of(check):
                with contextlib.suppress(BankProgramError):
                    pairs = _equal_shapes(evaluation, check.run, case)
                    common = self._common.setdefault(check.run, pairs)
                    self._common[check.run] = common & pairs

    def contains(self, evaluation: Evaluation, run: str, case: CaseRecipe, origin: str) -> bool:
        """Return True if an input has the properties of its original case and those of all cases.

        For example, dx must have the shape of x if it has it in the original case.

        Raises:
            BankProgramError: the reference fails on the input or on its original case.
        """
        numbers = _integer_inputs(case)
        for factor, smaller, larger in self._bounds:
            if numbers.keys() >= {smaller, larger}:
                if factor * numbers[smaller] > numbers[larger]:
                    return False
        required = _equal_shapes(self._evaluation, run, self._evaluation.cases[origin])
        required |= self._common.get(run, set())
        return required <= _equal_shapes(evaluation, run, case)


def _equal_shapes(evaluation: Evaluation, run: str, case: CaseRecipe) -> ShapePairs:
    """Return the pairs (input, result) with equal shapes.

    A pair of two empty names means that no result is empty unless an input is.
    """
    drawn = evaluation.drawn_inputs(case).items()
    input_shapes = {name: value.shape for name, value in drawn if isinstance(value, np.ndarray)}
    result_shapes = {
        name: to_array(value).shape
        for name, value in all_expected_results(evaluation, run, case).items()
        if isinstance(value, (np.ndarray, Tensor))
    }
    pairs = {
        (name, result)
        for name, result in itertools.product(input_shapes, result_shapes)
        if input_shapes[name] == result_shapes[result]
    }
    # That the reference can return an empty result does not prove that one is intended.
    is_input_empty = any(
        0 in shape
        for name, shape in input_shapes.items()
        if case.inputs[name].like not in result_shapes
    )
    if is_input_empty or not any(0 in shape for shape in result_shapes.values()):
        pairs.add(("", ""))
    return pairs


def _integer_inputs(case: CaseRecipe) -> dict[str, int]:
    integers = {}
    for name, recipe in case.inputs.items():
        if type(recipe.literal) is int and not recipe.is_array:
            integers[name] = recipe.literal
    return integers


def _find_bounds(cases: Iterable[CaseRecipe]) -> list[tuple[int, str, str]]:
    """Return triples (factor, a, b) if factor * a <= b in every case that has both integers."""
    numbers_by_case = [_integer_inputs(case) for case in cases]
    names = sorted({name for numbers in numbers_by_case for name in numbers})
    bounds = []
    pairs = itertools.permutations(names, 2)
    for factor, (smaller, larger) in itertools.product((1, 2), pairs):
        are_smaller = []
        for numbers in numbers_by_case:
            if numbers.keys() >= {smaller, larger}:
                are_smaller.append(factor * numbers[smaller] <= numbers[larger])
        if are_smaller and all(are_smaller):
            bounds.append((factor, smaller, larger))
    return bounds


# -- make extra inputs ----------------------------------------------------------------------------


class ExtraCases:
    """The extra inputs of a question, each drawn and run on the reference when it is needed."""

    def __init__(self, evaluation: Evaluation, seed: int = EXTRA_SEED) -> None:
        """Draw nothing yet.

        Args:
            evaluation: An evaluation on the question's own cases, whose reference is used.
            seed: Seed of the draws.
        """
        self._own = evaluation.with_bank_program(evaluation.reference)
        if evaluation.parts_asked < len(evaluation.question.spec.parts):
            # A submission need not handle cases of later parts yet.
            asked: set[str] = set()
            for check in evaluation.checks:
                asked.update(case.name for case in evaluation.cases_of(check))
            self._own.cases = {n: case for n, case in evaluation.cases.items() if n in asked}
        self.evaluation = self._own.with_bank_program(evaluation.reference)
        self.evaluation.seed = seed
        self.evaluation.cases = {}
        # Maps the name of an extra case to the name of its original case.
        self.origins: dict[str, str] = {}
        self._fingerprints: dict[RunAndName, set[int]] = {}
        self._is_accepted: dict[RunAndName, bool] = {}  # by run and name of a tried input

    @cached_property
    def _domain(self) -> InputDomain:
        return InputDomain(self._own)

    @cached_property
    def _candidates(self) -> Mapping[str, list[CaseRecipe]]:
        """The inputs made from each case of the question, in the order to try them.

        The first access also adds them to `origins`.
        """
        own = self._own.cases
        candidates: dict[str, list[CaseRecipe]] = {}
        for name, case in own.items():
            # The name of a case decides its draw.  No case of a question has ~ in its name, so each
            # draw is new.
            changed = _resized_and_redrawn(case)
            candidates[name] = [replace(c, name=f"{name}~{n}") for n, c in enumerate(changed)]
        for number, _, case, origin in case_variations(list(own.values()), self._own.checks):
            candidates[origin].append(replace(case, name=f"{origin}~v{number}"))
        for origin, cases in candidates.items():
            self.origins.update({case.name: origin for case in cases})
        return candidates

    def made_for(self, run: str, counts: Mapping[str, int]) -> list[CaseRecipe]:
        """Return inputs of a run that the reference accepts, smallest first.

        Args:
            run: The name of the run.
            counts: By case of the question, how many inputs to make from it; there may be fewer.
        """
        for factor in (1, RETRY_FACTOR):
            self._try_candidates(run, counts, factor)
        # Ignore inputs that were tried only because another call had higher counts.
        chosen = []
        for origin, count in counts.items():
            candidates = self._candidates[origin][: RETRY_FACTOR * count]
            chosen += self._already_accepted(run, candidates)[:count]
        return sorted(chosen, key=self._size_and_name)

    def _size_and_name(self, case: CaseRecipe) -> tuple[int, str]:
        return self.evaluation.display_order(case)[0], case.name

    def _already_accepted(self, run: str, cases: Iterable[CaseRecipe]) -> list[CaseRecipe]:
        """Return those of the inputs that were tried and that the reference accepted."""
        return [case for case in cases if self._is_accepted.get((run, case.name))]

    def _try_candidates(self, run: str, counts: Mapping[str, int], factor: int) -> None:
        """Try more inputs of each case that has fewer accepted ones than `counts` asks for.

        At most `factor` times the wanted number are tried.
        """
        new: list[CaseRecipe] = []
        for origin, count in counts.items():
            candidates = self._candidates[origin]
            if len(self._already_accepted(run, candidates)) < count:
                new += self._untried(run, candidates[: factor * count])
        self._accept(run, [case for case in new if self._is_new(run, case)])
        for case in new:
            self._is_accepted.setdefault((run, case.name), False)

    def _untried(self, run: str, cases: Iterable[CaseRecipe]) -> list[CaseRecipe]:
        return [case for case in cases if (run, case.name) not in self._is_accepted]

    def cases_of_other_checks(self, run: str, compared: Collection[str]) -> list[CaseRecipe]:
        """Return the question's cases that are not in `compared` and that the reference accepts.

        They are added as extra cases with names such as "small~own".
        """
        others = []
        for name, case in self._own.cases.items():
            if name not in compared:
                others.append(replace(case, name=f"{name}~own"))
                self.origins[f"{name}~own"] = name
        self._accept(run, others)
        return self._already_accepted(run, others)

    def accepted_by_reference(
        self, run: str, cases: Sequence[CaseRecipe], origin: str
    ) -> list[CaseRecipe]:
        """Return those of the inputs, made from the case `origin`, that the reference accepts.

        Each must have a name not used before.  They are added as extra cases.
        """
        self.origins.update({case.name: origin for case in cases})
        self._accept(run, cases)
        return self._already_accepted(run, cases)

    def is_disputed(self, run: str, case: CaseRecipe, without: str = "") -> bool:
        """Return True if an accepted solution, another right one, differs from the reference.

        Then the contract leaves the right result open.  The solution `without` is not asked.
        """
        question = self.evaluation.question
        asked = self.evaluation.parts_asked
        names = [name for name, last in question.accepted_until_part.items() if last >= asked]
        return any(self._differs(name, run, case) for name in names if name != without)

    def _differs(self, accepted: str, run: str, case: CaseRecipe) -> bool:
        """Return True if an accepted solution differs from the reference on an input, or fails."""
        assert self.evaluation.bank is not None, "no session gives this evaluation its programs"
        program = self.evaluation.bank.accepted_solution_program(accepted)
        solution = self.evaluation.with_bank_program(program)

        def compare() -> bool:
            try:
                outcome = solution.subject_outcome(run, case)
            except (ProgramError, WorkerError):
                return True
            names = solution.wanted_results[run]
            return any(find_mismatch(solution, run, case, name, outcome) for name in names)

        return solution.remember(("differs", run, case.name), compare, program)

    def _accept(self, run: str, cases: Iterable[CaseRecipe]) -> None:
        """Run the reference on inputs that were not tried, and note which of them it accepts."""
        evaluation = self.evaluation
        untried = self._untried(run, cases)
        fitting = [case for case in untried if self._is_fit(run, case)]
        for case in fitting:
            evaluation.cases[case.name] = case
            self._is_accepted[run, case.name] = False
        low_precision = [case for case in fitting if case.dtype != "float64"]
        want = compared_results_of_run(evaluation, run)
        with contextlib.suppress(WorkerError):  # an input may be too much for the process
            reference = [evaluation.reference]
            evaluation.prefetch(reference, run, fitting, want=want)
            evaluation.prefetch(reference, run, low_precision, want=want, modes=[PRECISE])
            for case in fitting:
                self._is_accepted[run, case.name] = self._is_right(run, case)

    def _is_right(self, run: str, case: CaseRecipe) -> bool:
        """Return True if an input is in the `InputDomain`, and the reference passes on it."""
        evaluation = self.evaluation
        try:
            outcome = evaluation.reference_outcome(run, case)
            if not self._domain.contains(evaluation, run, case, self.origins[case.name]):
                return False
            names = evaluation.wanted_results[run]
            return not any(find_mismatch(evaluation, run, case, name, outcome) for name in names)
        except (BankProgramError, KeyError):
            return False

    def _is_fit(self, run: str, case: CaseRecipe) -> bool:
        """Return True if a case has all inputs of the run, can be drawn, and has few entries."""
        names = run_inputs(self.evaluation.steps(run))
        if not case.inputs.keys() >= names.keys():
            return False
        try:
            drawn = self.evaluation.drawn_inputs(case)
            return sum(np.size(value) for value in drawn.values()) <= MAX_EXTRA_ENTRIES
        except (BankProgramError, DrawError, KeyError):
            return False

    def _is_new(self, run: str, case: CaseRecipe) -> bool:
        """Return True if an input can be run and was not seen before; remember it.

        Seen are the question's cases, and earlier inputs made from the same case.
        """
        if not self._is_fit(run, case):
            return False
        names = run_inputs(self.evaluation.steps(run))
        key = (run, self.origins[case.name])
        if key not in self._fingerprints:
            self._fingerprints[key] = set()
            for own in self._own.cases.values():
                if own.inputs.keys() >= names.keys():
                    self._fingerprints[key].add(input_fingerprint(self._own, own, names))
        fingerprints = self._fingerprints[key]
        fingerprint = input_fingerprint(self.evaluation, case, names)
        is_new = fingerprint not in fingerprints
        fingerprints.add(fingerprint)
        return is_new


def _resized_and_redrawn(case: CaseRecipe) -> list[CaseRecipe]:
    """Return versions of a case with longer sides, then copies of it for other draws."""
    resized = [resized_case(case, 1), resized_case(case, 2)]
    # A side of length 1 may be the point of a case.
    keeping_ones = resized_case(case, 2, fixed=1)
    if keeping_ones not in resized:
        resized.append(keeping_ones)
    cases = [new_case for new_case in resized if new_case is not None]
    if any(recipe.is_drawn for recipe in case.inputs.values()):
        cases += [case] * REDRAWS
    return cases


def extra_cases(evaluation: Evaluation) -> ExtraCases:
    """Return the extra inputs for the parts that were asked; a session makes them once."""
    assert evaluation.bank is not None, "no session gives this evaluation its memory"
    memory = evaluation.bank.memory
    key = ("further", evaluation.parts_asked)
    if key not in memory:
        memory[key] = ExtraCases(evaluation)
    extra: ExtraCases = memory[key]
    return extra


def share_evenly(cases: Collection[str], max_each: int, max_total: int) -> dict[str, int]:
    """Return the same count for each case: `max_each`, or less if all would exceed `max_total`.

    The count is at least 1.
    """
    return {case: max(1, min(max_each, max_total // len(cases))) for case in cases}


def input_fingerprint(evaluation: Evaluation, case: CaseRecipe, names: Iterable[str]) -> int:
    """Return a hash of all that a program sees of some inputs: values, dtypes and layouts."""
    drawn = evaluation.drawn_inputs(case)
    parts: list[object] = [case.dtype, case.layout]
    for name in names:
        value = drawn[name]
        recipe = case.inputs[name]
        if isinstance(value, np.ndarray):
            form = (recipe.dtype, recipe.layout, value.dtype.str, value.shape)
            parts += [name, form, value.tobytes()]
        else:
            parts += [name, repr(value)]
    return hash(tuple(parts))
