"""Compare a submission with the reference and with ideas (known mistakes), cell by cell.

A *component* is one aspect of one result of one run, or one measure of a check, over all its cases.
The dtype of a result is a component by itself: a lost dtype must not hide an idea that the values
show.  A component on one case is a *cell*.  A submission is right or wrong in each cell.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from grader import forms
from grader.cases.recipe import CaseRecipe, run_inputs, steps_producing
from grader.grading.compare import find_mismatch
from grader.grading.evaluation import Evaluation
from grader.grading.kinds import registry
from grader.grading.kinds.base import CaseTrial, Count
from grader.grading.tolerance_bands import allowed_by_check
from grader.grading.values import Value, deviations, dtype_of, same_value, to_array, to_floats
from grader.model.report import CheckResult, Verdict
from grader.model.spec import Check, Tolerance
from grader.model.steps import Step
from grader.sandbox.client import WorkerError
from grader.sandbox.messages import Outcome, ProgramError
from grader.sandbox.worker.wire import Tensor

FAILED_VERDICTS = {Verdict.FAIL, Verdict.ERROR, Verdict.LIMIT}

# The same idea written in another way keeps a few small tensors more or less.
COUNT_RELATIVE_TOLERANCE = 0.01
COUNT_ABSOLUTE_TOLERANCE = 256  # bytes or calls

MAX_NUMBERS = 100  # numbers of one result that are counted

# A variant matches within the tolerance only if it is this many tolerances from the reference.
MIN_TOLERANCES_APART = 10

_PRECISION = {"float16": 0, "bfloat16": 0, "float32": 1, "float64": 2}
_FAULT_PREFIX = "\0"  # no program returns a text with this prefix


@dataclass(frozen=True, slots=True)
class Component:
    """One aspect that is compared between programs: values of y, dtype of y, bytes kept."""

    name: str  # of a result, or of a check that measures
    run: str
    checks: Mapping[str, Collection[str]] = field(compare=False, hash=False)  # check ids by case
    is_dtype: bool = False  # it is only about the dtype of a result
    is_measure: bool = False  # a check measures it, such as bytes kept
    measured_by: Check | None = field(default=None, compare=False)  # that check
    exact: bool = False  # all its checks compare every bit
    varies_with_style: bool = False  # two programs with the same idea may differ
    relative_rounding: float = 0.0  # allowed for numbers that a person has rounded
    # The smallest tolerance of its checks; None if one of them has no tolerance.
    tolerance: Tolerance | None = field(default=None, compare=False)
    compares_in_float32: bool = False  # results that are equal in float32 are equal

    @property
    def cases(self) -> tuple[str, ...]:
        """Cases on which at least one check compares it."""
        return tuple(self.checks)


ResultCell = tuple[Component, str]


def compared_components(evaluation: Evaluation) -> list[Component]:
    """Return all components that the checks compare: results, then dtypes, then measures."""
    results = _result_components(evaluation)
    dtypes = [replace(result, is_dtype=True, relative_rounding=0.0) for result in results]
    return [*results, *dtypes, *_measure_components(evaluation)]


def _result_components(evaluation: Evaluation) -> list[Component]:
    """Return one component for each result of a run that some check compares."""
    is_text = forms.form_of(evaluation.question.spec).is_text
    checks_by_result: dict[tuple[str, str], list[Check]] = {}
    for check in evaluation.checks:
        if not registry.kind_named(check.kind).uses_observation(check):
            for result in check.compared_results:
                checks_by_result.setdefault((check.run, result), []).append(check)
    components = []
    for (run, result), checks in checks_by_result.items():
        check_ids: dict[str, tuple[str, ...]] = {}
        for check in checks:
            for case in evaluation.cases_of(check):
                check_ids[case.name] = (*check_ids.get(case.name, ()), check.id)
        tolerance = _min_tolerance(checks, result)
        component = Component(
            name=result,
            run=run,
            checks=check_ids,
            exact=all(getattr(check, "exact", False) for check in checks),
            tolerance=tolerance,
        )
        if is_text and tolerance is not None:
            component = replace(component, relative_rounding=tolerance.relative or 0.0)
        if check_ids:
            components.append(component)
    return components


def _min_tolerance(checks: Iterable[Check], result: str) -> Tolerance | None:
    """Return the smallest tolerance of a result; None if one of the checks allows none for it."""
    tolerances = []
    for check in checks:
        tolerance: Tolerance | None = getattr(check, "tolerance", None)
        if tolerance is None or not tolerance.applies_to(result):
            return None
        tolerances.append(tolerance)
    return min(tolerances, key=lambda t: (t.relative or 0.0, t.absolute or 0.0))


def _measure_components(evaluation: Evaluation) -> list[Component]:
    """Return one component for each check that measures, in the order in which to compare them.

    Quick measures come before slow ones.  Measures on which programs with the same idea may differ
    come last.
    """
    is_text = forms.form_of(evaluation.question.spec).is_text
    components = []
    for check in evaluation.checks:
        kind = registry.kind_named(check.kind)
        may_have_side_effects = kind.judges_values and not is_text
        if not kind.uses_observation(check) and not may_have_side_effects:
            continue
        component = Component(
            # If only the end of a curve is compared, the component has the name of the result.
            name=check.results[0] if kind.compares_final_value_only else check.id,
            run=check.run,
            checks={case.name: (check.id,) for case in evaluation.cases_of(check)},
            is_measure=True,
            measured_by=check,
            varies_with_style=kind.varies_with_style(check),
        )
        components.append((component.varies_with_style, kind.is_slow_to_observe, component))
    components.sort(key=lambda entry: entry[:2])
    return [component for *_, component in components]


# -- compare two programs in one cell -------------------------------------------------------------


def observe_component(evaluation: Evaluation, component: Component, case: str) -> Value:
    """Return the value of a component on one case, from the program that `evaluation` evaluates.

    If the program gives no result, return a text for which `is_fault` is True.  Values are
    remembered.
    """

    def observe() -> Value:
        check = component.measured_by
        try:
            if check is not None:
                trial = CaseTrial(evaluation, check, evaluation.cases[case])
                return registry.kind_named(check.kind).observe(trial)
            outcome = evaluation.subject_outcome(component.run, evaluation.cases[case])
            value = outcome.values.get(component.name)
            return _array_dtype(value) if component.is_dtype else value
        except ProgramError as error:
            return f"{_FAULT_PREFIX}raised {error.raised.type if error.raised else 'nothing'}"
        except WorkerError as error:
            return f"{_FAULT_PREFIX}stopped: {error}"

    return evaluation.remember(("observed", component, case), observe, evaluation.subject)


def _array_dtype(value: Value) -> str:
    """Return the dtype of an array or tensor; empty for any other value."""
    return dtype_of(value) if isinstance(value, (np.ndarray, Tensor)) else ""


def is_fault(value: Value) -> bool:
    """Return True if a program gave no result: it raised, or its process ended."""
    return isinstance(value, str) and value.startswith(_FAULT_PREFIX)


def same_in_cell(first: Evaluation, second: Evaluation, component: Component, case: str) -> bool:
    """Return True if two programs have the same value in a cell, up to rounding.

    An exact component allows no rounding.  Programs without a result are the same if they fail in
    the same way.
    """
    value = observe_component(first, component, case)
    other = observe_component(second, component, case)
    if is_fault(value) or is_fault(other):
        if component.is_dtype:  # the component for the values compares missing results
            return True
        if not (is_fault(value) and is_fault(other)) or value != other:
            return False
        return _same_before_exception(first, second, component.run, case)
    if isinstance(value, Count):
        return isinstance(other, Count) and _same_count(value, other)
    if component.relative_rounding:
        return _same_when_rounded(value, other, component.relative_rounding)
    if component.compares_in_float32:
        return same_value(_in_float32(value), _in_float32(other), "float32")
    value, other = _in_lower_precision(value, other)
    return same_value(value, other, first.cases[case].dtype, exact=component.exact)


def is_within_tolerance(
    submission: Evaluation,
    variant: Evaluation,
    reference: Evaluation,
    component: Component,
    case: str,
) -> bool:
    """Return True if a submission equals a variant of an idea within the tolerance of the checks.

    In some entry the variant must be more than ten tolerances from the reference; otherwise a right
    result might equal it, too.
    """
    tolerance = component.tolerance
    if tolerance is None or component.is_dtype or component.relative_rounding:
        return False
    evaluations = (submission, variant, reference)
    values = [observe_component(evaluation, component, case) for evaluation in evaluations]
    if len({_array_dtype(value) for value in values}) > 1:
        return False
    actual, idea, expected = (to_floats(value) for value in values)
    if actual is None or idea is None or expected is None or idea.shape != expected.shape:
        return False
    finite = np.isfinite(idea)
    differences = deviations(actual, idea)
    if differences is None:
        return False
    if (differences > allowed_by_check(tolerance, idea[finite])).any():
        return False
    distances = np.abs(idea[finite] - expected[finite])
    min_distance = MIN_TOLERANCES_APART * allowed_by_check(tolerance, expected[finite])
    return bool((distances > min_distance).any())


def _in_float32(value: Value) -> Value:
    """Return a float64 array in float32; leave any other value as it is."""
    is_float64 = isinstance(value, np.ndarray) and value.dtype == np.float64
    return value.astype(np.float32) if is_float64 else value


def _same_when_rounded(value: Value, other: Value, relative: float) -> bool:
    """Return True if two dicts have the same numbers, up to rounding by a person."""
    if not isinstance(value, dict) or not isinstance(other, dict):
        return False
    if value.keys() != other.keys():
        return False
    for name, number in value.items():
        pair = (number, other[name])
        if not all(isinstance(item, (int, float)) for item in pair):
            return False
        if not math.isclose(*pair, rel_tol=relative, abs_tol=1e-12):
            return False
    return True


def _same_count(count: Count, other: Count) -> bool:
    """Return True if two counts are nearly equal, and list the same tensors if these are known."""
    if count.kept is not None and other.kept is not None and count.kept != other.kept:
        return False
    return math.isclose(
        count.value,
        other.value,
        rel_tol=COUNT_RELATIVE_TOLERANCE,
        abs_tol=COUNT_ABSOLUTE_TOLERANCE,
    )


def _same_before_exception(first: Evaluation, second: Evaluation, run: str, case: str) -> bool:
    """Return True if two programs were right, or wrong in the same way, before they raised.

    If the process of one ended, nothing can be compared, and True is returned as well.
    """
    try:
        sentence = _wrong_result_before_exception(first, run, case)
        other_sentence = _wrong_result_before_exception(second, run, case)
    except WorkerError:  # a process ended, so there is nothing to compare
        return True
    return sentence == other_sentence


def _in_lower_precision(value: Value, other: Value) -> tuple[Value, Value]:
    """Return two float arrays in the less precise of their dtypes; leave any other values."""
    if type(value) is not type(other) or not isinstance(value, (np.ndarray, Tensor)):
        return value, other
    dtypes = (dtype_of(value), dtype_of(other))
    if dtypes[0] == dtypes[1] or not all(dtype in _PRECISION for dtype in dtypes):
        return value, other
    dtype = min(dtypes, key=_PRECISION.__getitem__)
    if isinstance(value, Tensor):
        return Tensor(value.values, dtype), Tensor(other.values, dtype)
    return value.astype(dtype), other.astype(dtype)


# -- results before the step that raises ----------------------------------------------------------


def _wrong_result_before_exception(evaluation: Evaluation, run: str, name: str) -> str:
    """Return a sentence on a wrong result that the raising step uses; "" if there is none."""
    case = evaluation.cases[name]
    steps = evaluation.steps(run)
    try:
        evaluation.subject_outcome(run, case)
        return ""
    except ProgramError as error:
        if error.step is None or error.step not in steps:
            return ""
        steps_until_exception = steps[: steps.index(error.step) + 1]
    result_of_last_step = steps_until_exception[-1].targets[0]
    for step in steps_producing(steps_until_exception, result_of_last_step)[:-1]:
        for result in step.targets:
            if result not in evaluation.wanted_results[run]:
                continue
            outcome = result_despite_exception(evaluation, run, case, result)
            mismatch = outcome and find_mismatch(evaluation, run, case, result, outcome)
            if mismatch is not None:
                return mismatch.sentence
    return ""


def result_despite_exception(
    evaluation: Evaluation, run: str, case: CaseRecipe, result: str
) -> Outcome | None:
    """Compute one result by the steps that it needs, for a run in which another step raises.

    Returns None if a step that it needs raises.

    Raises:
        WorkerError: the process ended.
    """
    steps = steps_producing(evaluation.steps(run), result)

    def ask() -> Outcome | None:
        drawn = evaluation.inputs(case, run)
        inputs = {name: drawn[name] for name in run_inputs(steps)}
        try:
            return evaluation.subject.run(steps, inputs, [result])
        except ProgramError:
            return None

    return evaluation.remember(("up to", run, case.name, result), ask, evaluation.subject)


# -- the cells in which a submission is wrong -----------------------------------------------------


@dataclass(frozen=True)
class FailedGrade:
    """A grade that was not passed, with the cells in which the submission is wrong."""

    submission_evaluation: Evaluation
    checks: Sequence[CheckResult]
    compares_in_float32: bool = False  # see `Component`
    lenient: bool = False  # see `is_ignored`
    based_on_accepted: str = ""  # in an audit: the accepted solution that the submission is made of

    @cached_property
    def reference(self) -> Evaluation:
        """An evaluation of the reference on the same cases."""
        return self.submission_evaluation.with_bank_program(self.submission_evaluation.reference)

    @cached_property
    def all_components(self) -> list[Component]:
        """All components that checks compare: values, then dtypes, then measures.

        If results are compared in float32, exact components are left out.
        """
        components = compared_components(self.submission_evaluation)
        if not self.compares_in_float32:
            return components
        return [replace(c, compares_in_float32=True) for c in components if not c.exact]

    @cached_property
    def value_components(self) -> list[Component]:
        """The results and their dtypes."""
        return [component for component in self.all_components if not component.is_measure]

    @cached_property
    def failed_checks(self) -> frozenset[str]:
        """Ids of the checks that ran and did not pass."""
        return frozenset(check.id for check in self.checks if check.verdict in FAILED_VERDICTS)

    @cached_property
    def passed_checks(self) -> frozenset[str]:
        """Ids of the checks that passed."""
        return frozenset(check.id for check in self.checks if check.verdict is Verdict.PASS)

    @cached_property
    def wrong_cells(self) -> dict[ResultCell, None]:
        """The cells in which the submission is wrong, in the order of components and cases."""
        wrong: dict[ResultCell, None] = {}
        for component in self.all_components:
            check = component.measured_by
            if check is not None and check.id in self.passed_checks:
                continue  # a measure within its budget is not wrong
            for case in component.cases:
                if self._is_wrong((component, case)):
                    wrong[component, case] = None
        return wrong

    def _is_wrong(self, cell: ResultCell) -> bool:
        """Return True if the submission differs from the reference by more than checks allow."""
        component, case = cell
        submission = self.submission_evaluation
        if same_in_cell(submission, self.reference, component, case):
            return False
        if component.is_dtype or component.is_measure or self.has_no_result(cell):
            return True
        if component.exact or component.compares_in_float32:
            return True
        recipe = submission.cases[case]
        outcome = submission.subject_outcome(component.run, recipe)
        mismatch = find_mismatch(submission, component.run, recipe, component.name, outcome)
        return mismatch is not None

    @cached_property
    def failing_cells(self) -> list[ResultCell]:
        """The evidence: wrong cells of failed checks.  Skipped checks do not count."""
        return [
            (component, case)
            for component, case in self.wrong_cells
            if not self.failed_checks.isdisjoint(component.checks[case])
        ]

    @cached_property
    def failing_value_cells(self) -> list[ResultCell]:
        """The evidence without measures."""
        return [cell for cell in self.failing_cells if not cell[0].is_measure]

    @cached_property
    def value_cells(self) -> list[ResultCell]:
        """All cells of results and dtypes, wrong ones first."""
        all_cells = ((c, case) for c in self.value_components for case in c.cases)
        cells = dict.fromkeys((*self.wrong_cells, *all_cells))
        return [cell for cell in cells if not cell[0].is_measure]

    @cached_property
    def _wrong_functions(self) -> set[tuple[str, str]]:
        """The functions that returned a wrong result, as ("submission", "backward")."""
        functions: set[tuple[str, str]] = set()
        for component, _ in self.wrong_cells:
            if not component.is_measure:
                step = self._steps_producing(component)[-1]
                functions.add((step.owner, step.function))
        return functions

    def is_ignored(self, cell: ResultCell) -> bool:
        """Return True if a difference in this cell does not rule out an idea.

        A cell without a result proves nothing.  A lenient comparison also ignores the results of
        functions that return no wrong result anywhere.  For example, `backward` of the reference
        calls `forward`, so an idea changes the results of both.  A submission may have a copy of
        the lines in each of them, and the idea in only one of the two.
        """
        if self.has_no_result(cell):
            return True
        if not self.lenient:
            return False
        steps = self._steps_producing(cell[0])
        return all((step.owner, step.function) not in self._wrong_functions for step in steps)

    def _steps_producing(self, component: Component) -> Sequence[Step]:
        return steps_producing(self.submission_evaluation.steps(component.run), component.name)

    def has_no_result(self, cell: ResultCell) -> bool:
        """Return True if the submission gave no result in a cell, which then says nothing."""
        return is_fault(observe_component(self.submission_evaluation, *cell))

    def telling_numbers(self, cells: Iterable[ResultCell]) -> set[float]:
        """Return the distinct expected numbers in some cells, without 0 and 1, which prove little.

        Of each array only the first numbers are read.
        """
        numbers: set[float] = set()
        for cell in cells:
            value = observe_component(self.reference, *cell)
            for item in value.values() if isinstance(value, dict) else [value]:
                numbers.update(_finite_numbers(item))
        return numbers - {0.0, 1.0}


def _finite_numbers(value: Value) -> list[float]:
    """Return a number, or the first finite numbers of an array; [] for any other value."""
    if not isinstance(value, (int, float, np.number, np.ndarray, Tensor)):
        return []
    array = np.asarray(to_array(value))
    if array.dtype.kind not in "iuf":
        return []
    finite = array[np.isfinite(array)][:MAX_NUMBERS]
    numbers: list[float] = finite.astype(np.float64).tolist()
    return numbers
