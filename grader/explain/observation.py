"""Observe a submission: its results on inputs, each with the expected result."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np

from grader.cases.draw import Array
from grader.cases.recipe import CaseRecipe, assigned_names, run_inputs, steps_producing
from grader.explain.components import result_despite_exception
from grader.grading.bank_errors import blame_bank
from grader.grading.compare import find_mismatch
from grader.grading.evaluation import Evaluation
from grader.grading.kinds import registry
from grader.grading.values import (
    RELATIVE_TOLERANCES,
    Value,
    dtype_of,
    item_keys,
    largest_magnitude,
    same_value,
    to_array,
)
from grader.sandbox.client import WorkerError
from grader.sandbox.messages import Outcome, ProgramError
from grader.sandbox.worker.wire import Tensor

CERTAIN_DEVIATION = 1e-3  # of the largest expected entry: rounding never changes float64 so much
MAX_ENTRIES = 200_000  # an array with more entries is not compared with rules
ORDINALS = ("first", "second", "third", "fourth")


class Strictness(NamedTuple):
    """How strictly the checks compare a result on a case."""

    exact: bool = False  # every bit must be equal
    zeros: bool = False  # where 0 is expected, it must be exactly 0


RunResult = tuple[str, str]  # the name of a run and of one of its results
ComparedCases = Mapping[RunResult, Mapping[str, Strictness]]  # the inner keys are cases


@dataclass
class Observation:
    """One result of a submission on one input, with the expected result."""

    run: str
    result: str
    case: str  # name of the case: one of the question's, or an extra case
    origin: str  # the original case of an extra case; otherwise the case itself
    returned: Value
    expected_value: Value
    is_right: bool
    raised_type: str = ""  # type of the exception, if the run raised
    input_values: dict[str, Value] = field(default_factory=dict)  # inputs of the result
    other_results: Mapping[str, Value] = field(default_factory=dict)  # expected, of the same run
    dtype: str = "float64"
    path: tuple[Any, ...] = ()  # key or index, if this is an item of the result

    @property
    def is_own_case(self) -> bool:
        """True for one of the question's cases, False for an extra case."""
        return self.case == self.origin

    @cached_property
    def returned_array(self) -> Array | None:
        """The returned value as float64 numbers; None if it has no numbers."""
        return to_float64(self.returned)

    @cached_property
    def expected_array(self) -> Array | None:
        """The expected value as float64 numbers; None if it has no numbers."""
        return to_float64(self.expected_value)

    @cached_property
    def input_arrays(self) -> dict[str, Array]:
        """The inputs as numbers, by a phrase such as "the input x"."""
        return _arrays_by_phrase("the input {}", self.input_values)

    @cached_property
    def other_arrays(self) -> dict[str, Array]:
        """The other expected results, then the inputs, as numbers by a phrase: "the right dx"."""
        template = "what {} should be" if self.path else "the right {}"
        return _arrays_by_phrase(template, self.other_results) | self.input_arrays

    @cached_property
    def relative_rounding(self) -> float:
        """Largest rounding difference of two correct programs, as a share of the largest entry."""
        expected = self.expected_value
        if isinstance(expected, (int, np.integer)):
            return 1e-15
        dtype = self.dtype
        if isinstance(expected, (np.ndarray, Tensor)):
            dtype = dtype_of(expected)
        return RELATIVE_TOLERANCES.get(dtype, RELATIVE_TOLERANCES["float64"])

    def is_close(self, array: Array, other: Array) -> bool:
        """Return True if two arrays are equal up to rounding."""
        return array.shape == other.shape and not self.entries_that_differ(array, other).any()

    def entries_that_differ(self, array: Array, other: Array) -> Array:
        """Return a mask of the entries that differ by more than rounding."""
        both_finite = np.isfinite(array) & np.isfinite(other)
        zeros = np.zeros(array.shape)
        differences = np.abs(np.subtract(array, other, out=zeros, where=both_finite))
        same = (array == other) | (np.isnan(array) & np.isnan(other))
        max_difference = self.relative_rounding * largest_magnitude(other)
        return np.asarray(np.where(both_finite, differences > max_difference, ~same))

    @cached_property
    def wrong_entries(self) -> Array:
        """Mask of the wrong entries, for two arrays of the same shape."""
        returned, expected = self.returned_and_expected
        wrong = self.entries_that_differ(returned, expected)
        if wrong.any():
            return wrong
        # A check that compares every bit fails on differences within rounding.
        both_nan = np.isnan(returned) & np.isnan(expected)
        return np.asarray((returned != expected) & ~both_nan)

    @property
    def returned_and_expected(self) -> tuple[Array, Array]:
        """The returned and the expected numbers.

        Raises:
            ValueError: one of the two has no numbers.
        """
        if self.returned_array is None or self.expected_array is None:
            raise ValueError("nothing to compare")
        return self.returned_array, self.expected_array

    @property
    def input_form(self) -> tuple[object, ...]:
        """The shapes of input arrays and the values of other inputs."""
        forms = []
        for value in self.input_values.values():
            shape = getattr(value, "shape", ())
            forms.append(shape or repr(value)[:60])
        return tuple(forms)

    @cached_property
    def named_sizes(self) -> dict[str, int]:
        """Sizes that may scale a wrong result, by a phrase such as "the length of x"."""
        sizes: dict[str, int] = {}
        labels: dict[str, int] = {}
        for name, value in self.input_values.items():
            if isinstance(value, int) and not isinstance(value, bool):
                sizes[name] = value
            elif isinstance(value, np.ndarray):
                sizes |= _sizes_of_array(name, value)
                if value.ndim == 1 and value.dtype.kind in "iu":
                    # A program may ignore negative labels.
                    phrase = f"the number of entries of {name} that are not negative here"
                    labels[phrase] = int((value >= 0).sum())
        expected = self.expected_array
        if expected is not None and expected.ndim > 1:
            for axis, length in enumerate(expected.shape):
                sizes.setdefault(axis_in_words(self.result, axis, expected.ndim), length)
        sizes.pop("", None)  # an axis without a phrase
        # Leave out a size that equals a number of labels: the program may use either.
        counts = set(labels.values())
        return {name: size for name, size in sizes.items() if size not in counts} | labels

    @property
    def failure_kind(self) -> str:
        """Kind of failure: "type", "shape", "not finite", "values" or "last digits".

        Each kind gets its own statement.  It has no meaning if the run raised.
        """
        returned = self.returned_array
        expected = self.expected_array
        if returned is None or expected is None:
            return "type"
        if returned.shape != expected.shape:
            return "shape"
        if (~np.isfinite(returned) & np.isfinite(expected)).any():
            return "not finite"
        if self.entries_that_differ(returned, expected).any():
            return "values"
        same_type = isinstance(self.returned, type(self.expected_value))
        same_dtype = same_type and dtype_of(self.returned) == dtype_of(self.expected_value)
        return "last digits" if same_dtype or not returned.ndim else "type"

    def split_items(self) -> Iterator[Observation]:
        """Yield one observation for each item of a dict or list; otherwise the observation itself.

        A list of numbers stays together.
        """
        expected = self.expected_value
        keys = item_keys(self.returned, expected)
        if keys is None or to_float64(expected) is not None:  # numbers stay together
            yield self
            return
        for key in keys:
            item = replace(
                self,
                result=f"{self.result}[{key!r}]",
                returned=self.returned[key],
                expected_value=expected[key],
                is_right=_is_item_right(self.returned[key], expected[key], self.dtype),
                path=(key,),
            )
            if isinstance(expected, dict):
                item.other_results = {name: v for name, v in expected.items() if name != key}
            else:
                item.result = f"{self.result}[i]"
                item.input_values = {**self.input_values, "i": key}
            yield item


def _arrays_by_phrase(template: str, values: Mapping[str, Value]) -> dict[str, Array]:
    arrays = {}
    for name, value in values.items():
        array = to_float64(value)
        if array is not None:
            arrays[template.format(name)] = array
    return arrays


def _sizes_of_array(name: str, array: Array) -> dict[str, int]:
    """Return the sizes of an array by a phrase, as "the number of rows of x"."""
    sizes = {}
    # The number of rows comes first: for a matrix it equals the length of the first axis, and a
    # program for matrices may mean either.
    if array.ndim > 1 and array.shape[-1]:
        sizes[f"the number of rows of {name}"] = array.size // array.shape[-1]
    for axis, length in enumerate(array.shape):
        sizes[axis_in_words(name, axis, array.ndim)] = length
    if array.ndim > 1:
        sizes[f"the number of entries of {name}"] = array.size
    return sizes


def _is_item_right(returned: Value, expected: Value, dtype: str) -> bool:
    """Return True if an item of a dict or list is right; integers are compared exactly."""
    try:
        return same_value(returned, expected, dtype, exact=isinstance(expected, (int, np.integer)))
    except (TypeError, ValueError, OverflowError):  # it does not fit into floats
        return False


def to_float64(value: Value) -> Array | None:
    """Return an array, tensor, number or list of numbers as float64; None for anything else."""
    if value is None or isinstance(value, (str, dict, bool, np.bool_)):
        return None
    try:
        if isinstance(value, (list, tuple)):
            if not value or not all(_is_plain_number(item) for item in value):
                return None
            return np.asarray(value, np.float64)
        array = to_array(value)
        if array.dtype.kind not in "fiu" or array.size > MAX_ENTRIES:
            return None
        return array.astype(np.float64)
    except (TypeError, ValueError, OverflowError):
        return None


def _is_plain_number(value: Value) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def axis_in_words(name: str, axis: int, ndim: int) -> str:
    """Return "the length of the second axis of x", or "the length of x"; "" beyond the fourth."""
    if ndim == 1:
        return f"the length of {name}"
    return f"the length of the {ORDINALS[axis]} axis of {name}" if axis < len(ORDINALS) else ""


# -- observe the results of a submission ----------------------------------------------------------


def compared_cases_by_result(evaluation: Evaluation) -> ComparedCases:
    """Return the cases on which required checks compare each result, and how strictly."""
    compared: dict[RunResult, dict[str, Strictness]] = {}
    for check in evaluation.checks:
        if check.stretch or registry.kind_named(check.kind).uses_observation(check):
            continue
        exact = getattr(check, "exact", False)
        zeros = getattr(check, "zeros", None) == "exact"
        for result in check.compared_results:
            by_case = compared.setdefault((check.run, result), {})
            for case in evaluation.cases_of(check):
                previous = by_case.get(case.name, Strictness())
                by_case[case.name] = Strictness(exact or previous.exact, zeros or previous.zeros)
    return compared


def observe_results(
    evaluation: Evaluation,
    compared: ComparedCases,
    run_results: Iterable[RunResult],
    cases: Iterable[CaseRecipe],
    origins: Mapping[str, str],
) -> list[Observation]:
    """Return observations of some results on some cases.

    Args:
        evaluation: The submission and the cases.
        compared: The cases on which each result is compared; others are skipped.
        run_results: The results to observe.
        cases: Cases of the question, or extra ones.
        origins: Maps the name of an extra case to the name of its original case.

    Raises:
        WorkerError: the submission's process ended on an extra case.
        BankProgramError: the reference fails on a case.
    """
    observations = []
    for run, result in run_results:
        for case in cases:
            origin = origins.get(case.name, case.name)
            strictness = compared[run, result].get(origin)
            if strictness is not None:
                observations.append(
                    _observe_result(evaluation, run, result, case, origin, strictness)
                )
    return observations


def _observe_result(
    evaluation: Evaluation,
    run: str,
    result: str,
    case: CaseRecipe,
    origin: str,
    strictness: Strictness,
) -> Observation:
    """Return the observation of a result on a case made from `origin`, or on `origin` itself."""
    expected_results = all_expected_results(evaluation, run, case)
    expected = expected_results[result]
    steps = steps_producing(evaluation.steps(run), result)

    is_right = partial(_is_accepted, evaluation, run, case, result, strictness)

    outcome = Outcome({})
    raised_type = ""
    try:
        outcome = evaluation.subject_outcome(run, case)
    except ProgramError as error:
        raised_type = error.raised.type if error.raised else error.message
        if error.step is not None and error.step not in steps:
            partial_outcome = result_despite_exception(evaluation, run, case, result)
            # A result that was wrong before the exception may be its cause.
            if partial_outcome is not None and not is_right(partial_outcome):
                outcome = partial_outcome
                raised_type = ""
    except WorkerError:
        if evaluation.subject.worker.failure is not None and case.name != origin:
            raise
        raised_type = "stopped"

    drawn = evaluation.drawn_inputs(case)
    return Observation(
        run=run,
        result=result,
        case=case.name,
        origin=origin,
        returned=outcome.values.get(result),
        expected_value=expected,
        is_right=not raised_type and is_right(outcome),
        raised_type=raised_type,
        input_values={name: drawn[name] for name in run_inputs(steps)},
        other_results={name: v for name, v in expected_results.items() if name != result},
        dtype=case.dtype,
    )


def _is_accepted(
    evaluation: Evaluation,
    run: str,
    case: CaseRecipe,
    result: str,
    strictness: Strictness,
    outcome: Outcome,
) -> bool:
    """Return True if checks of the given strictness accept a result."""
    # A result this far off needs no exact band, for which the reference would run again.
    expected = evaluation.reference_outcome(run, case).values[result]
    if case.dtype == "float64" and _is_far_from(outcome.values.get(result), expected):
        return False
    exact, zeros = strictness
    mismatch = find_mismatch(evaluation, run, case, result, outcome, exact=exact, exact_zeros=zeros)
    return mismatch is None


def all_expected_results(evaluation: Evaluation, run: str, case: CaseRecipe) -> Mapping[str, Value]:
    """Return the reference's results of a run, as far as `compared_results_of_run` lists them.

    They are computed once.

    Raises:
        BankProgramError: the reference fails on the case.
    """

    def compute() -> Mapping[str, Value]:
        values = evaluation.reference_outcome(run, case).values
        names = compared_results_of_run(evaluation, run)
        if set(names) <= set(values):
            return values
        with blame_bank(f"the reference fails on case {case.name}"):
            inputs = evaluation.inputs(case, run)
            outcome = evaluation.reference.run(evaluation.steps(run), inputs, names)
            return {**outcome.values, **values}

    key = ("everything", run, case.name, str(evaluation.parts_asked))
    return evaluation.remember(key, compute, evaluation.reference)


def _is_far_from(returned: Value, expected: Value) -> bool:
    """Return True if an array differs so much that no rounding explains it."""
    if not isinstance(returned, np.ndarray) or not isinstance(expected, np.ndarray):
        return False
    array = to_float64(returned)
    expected_array = to_float64(expected)
    if array is None or expected_array is None or array.shape != expected_array.shape:
        return False
    if not np.isfinite(expected_array).all():
        return False
    max_deviation = CERTAIN_DEVIATION * largest_magnitude(expected_array)
    return max_deviation > 0 and not (np.abs(array - expected_array) <= max_deviation).all()


def compared_results_of_run(evaluation: Evaluation, run: str) -> tuple[str, ...]:
    """Return the results of a run that a check of any run compares.

    A result counts if the run assigns its name, even if only checks of another run compare it.
    """
    compared = evaluation.wanted_results
    assigned = assigned_names(evaluation.steps(run))
    names = list(compared[run])
    for names_of_run in compared.values():
        names += [name for name in names_of_run if name in assigned]
    return tuple(dict.fromkeys(names))
