"""What a submission gave for one result on one input, beside what is right there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from grader.cases.draw import Array
from grader.cases.recipe import CaseRecipe, assigned_names, run_inputs, steps_producing
from grader.explain.components import result_despite_failure
from grader.grading.compare import find_mismatch
from grader.grading.evaluation import Evaluation, blame_bank
from grader.grading.kinds import registry
from grader.grading.values import (
    RELATIVE_TOLERANCES,
    Value,
    dtype_of,
    largest_magnitude,
    same_value,
    to_array,
)
from grader.sandbox.client import WorkerError
from grader.sandbox.messages import Outcome, ProgramError
from grader.sandbox.worker.wire import Tensor

CERTAIN_DEVIATION = 1e-3  # of the largest expected entry: no rounding moves a float64 result so far
MAX_ENTRIES = 200_000  # of an array that is looked at
ORDINALS = ("first", "second", "third", "fourth")
COUNTED_LABELS_PHRASE = "that are not negative here"  # as labels are that count
ComparedCases = Mapping[tuple[str, str], Mapping[str, tuple[bool, bool]]]


@dataclass
class Observation:
    """What a submission gave for one result on one input."""

    run: str
    result: str
    case: str  # of the question, or made from one
    origin: str  # the case of the question
    is_own_case: bool  # a case of the question itself
    returned: Value
    expected_value: Value
    is_right: bool
    raised_type: str = ""  # the type of what the run raised
    input_values: Mapping[str, Value] = field(default_factory=dict)  # what the result depends on
    other_results: Mapping[str, Value] = field(
        default_factory=dict
    )  # right results of the same run
    dtype: str = "float64"
    path: tuple[Any, ...] = ()  # of an item: by which key or number it is found

    @cached_property
    def returned_array(self) -> Array | None:
        """What was returned, as float64 numbers; None where it is something else."""
        return to_float64(self.returned)

    @cached_property
    def expected_array(self) -> Array | None:
        """What is right, likewise."""
        return to_float64(self.expected_value)

    @cached_property
    def relative_rounding(self) -> float:
        """By how much of the largest entry two ways of computing one idea differ."""
        right = self.expected_value
        if isinstance(right, (int, np.integer)):
            return 1e-15
        name = dtype_of(right) if isinstance(right, (np.ndarray, Tensor)) else self.dtype
        return RELATIVE_TOLERANCES.get(name, RELATIVE_TOLERANCES["float64"])

    def is_close(self, one: Array, other: Array) -> bool:
        """Whether two arrays are equal up to rounding."""
        return one.shape == other.shape and not self.entries_that_differ(one, other).any()

    def entries_that_differ(self, one: Array, other: Array) -> Array:
        """Where two arrays of one shape differ by more than rounding."""
        both = np.isfinite(one) & np.isfinite(other)
        off = np.abs(np.subtract(one, other, out=np.zeros(one.shape), where=both))
        same = (one == other) | (np.isnan(one) & np.isnan(other))
        return np.asarray(
            np.where(both, off > self.relative_rounding * largest_magnitude(other), ~same)
        )

    @cached_property
    def wrong_entries(self) -> Array:
        """Where the entries are wrong; only where both have one shape."""
        got, expected = self.returned_and_expected
        wrong = self.entries_that_differ(got, expected)
        if wrong.any():
            return wrong
        # Within rounding, where every bit was asked for.
        return np.asarray((got != expected) & ~(np.isnan(got) & np.isnan(expected)))

    @property
    def returned_and_expected(self) -> tuple[Array, Array]:
        """What was given and what is right, where both are numbers.

        Raises:
            ValueError: one is not.
        """
        if self.returned_array is None or self.expected_array is None:
            raise ValueError("nothing to compare")
        return self.returned_array, self.expected_array

    @property
    def input_form(self) -> tuple[object, ...]:
        """The shapes and the numbers of the inputs: what is seen may come from any of them."""
        return tuple(getattr(v, "shape", ()) or repr(v)[:60] for v in self.input_values.values())

    @cached_property
    def named_sizes(self) -> dict[str, int]:
        """What a result could be divided or multiplied by, in words that a reader knows."""
        found: dict[str, int] = {}
        for name, value in self.input_values.items():
            if isinstance(value, int) and not isinstance(value, bool):
                found[name] = value
            elif isinstance(value, np.ndarray) and value.ndim > 1:
                # Named before the first axis: of a matrix they are the same, and what a program
                # does with an array of more axes, matrices do not say.
                if value.shape[-1]:
                    found[f"the number of rows of {name}"] = value.size // value.shape[-1]
                found |= {axis_in_words(name, i, value.ndim): n for i, n in enumerate(value.shape)}
                found[f"the number of entries of {name}"] = value.size
            elif isinstance(value, np.ndarray) and value.ndim:
                labels = int((value >= 0).sum()) if value.dtype.kind in "iu" else -1
                if labels != value.size:  # else nobody knows which of both it is
                    found[axis_in_words(name, 0, 1)] = value.size
                if labels >= 0:
                    found[f"the number of entries of {name} {COUNTED_LABELS_PHRASE}"] = labels
        if self.expected_array is not None and self.expected_array.ndim > 1:
            for axis, length in enumerate(self.expected_array.shape):
                found.setdefault(axis_in_words(self.result, axis, self.expected_array.ndim), length)
        found.pop("", None)
        # Nobody knows which it is where a length is also how many labels are counted.
        counted = {n for name, n in found.items() if name.endswith(COUNTED_LABELS_PHRASE)}
        return {
            n: size
            for n, size in found.items()
            if n.endswith(COUNTED_LABELS_PHRASE) or size not in counted
        }

    @property
    def failure_kind(self) -> str:
        """What sort of failure it is: each gets a statement of its own."""
        if self.raised_type:
            return "raised"
        a, b = self.returned_array, self.expected_array
        if a is None or b is None:
            return "type"
        if a.shape != b.shape:
            return "shape"
        if (~np.isfinite(a) & np.isfinite(b)).any():
            return "not finite"
        if self.entries_that_differ(a, b).any():
            return "values"
        returned, right = self.returned, self.expected_value
        alike = isinstance(returned, type(right)) and dtype_of(returned) == dtype_of(right)
        return "last digits" if alike or not a.ndim else "type"

    def split_items(self) -> Iterator[Observation]:
        """One observation for each number of a dict and each array of a list; else itself."""
        right, got = self.expected_value, self.returned
        sequences = isinstance(right, (list, tuple)) and isinstance(got, (list, tuple))
        if sequences and len(right) == len(got) and to_float64(right) is None:
            for i, (mine, want) in enumerate(zip(got, right, strict=True)):
                yield replace(
                    self,
                    result=f"{self.result}[i]",
                    returned=mine,
                    expected_value=want,
                    is_right=_same_part(mine, want, self.dtype),
                    input_values={**self.input_values, "i": i},
                    path=(i,),
                )
            return
        if not (isinstance(right, dict) and isinstance(got, dict) and right.keys() == got.keys()):
            yield self
            return
        for key, want in right.items():
            yield replace(
                self,
                result=f"{self.result}[{key!r}]",
                returned=got[key],
                expected_value=want,
                is_right=_same_part(got[key], want, self.dtype),
                other_results={n: v for n, v in right.items() if n != key},
                path=(key,),
            )


def _same_part(got: Value, want: Value, dtype: str) -> bool:
    """Whether an item of a dict is right: a whole number to the last one."""
    exact, ours = isinstance(want, (int, np.integer)), to_float64(got)
    if exact and ours is not None and not ours.ndim:
        return bool(got == want)
    try:
        return same_value(got, want, dtype, exact=exact)
    except (TypeError, ValueError, OverflowError):  # nothing that floats can hold
        return False


def to_float64(value: Value) -> Array | None:
    """Float64 numbers of an array, a tensor, a scalar or a list of them."""
    if value is None or isinstance(value, (str, dict, bool, np.bool_)):
        return None
    try:
        if isinstance(value, (list, tuple)):
            plain = all(isinstance(v, (int, float)) and not isinstance(v, bool) for v in value)
            return np.asarray(value, np.float64) if plain and value else None
        found = to_array(value)
        fits = found.dtype.kind in "fiu" and found.size <= MAX_ENTRIES
        return found.astype(np.float64) if fits else None
    except (TypeError, ValueError, OverflowError):
        return None


def axis_in_words(name: str, axis: int, ndim: int) -> str:
    """An axis of an array in words."""
    if ndim == 1:
        return f"the length of {name}"
    return f"the length of the {ORDINALS[axis]} axis of {name}" if axis < len(ORDINALS) else ""


def compared_cases_by_result(evaluation: Evaluation) -> ComparedCases:
    """By run and result, the cases on which a check compares it: to the last bit, and zeros."""
    found: dict[tuple[str, str], dict[str, tuple[bool, bool]]] = {}
    for check in evaluation.checks:
        kind = registry.kind_named(check.kind)
        if check.stretch or kind.uses_observation(check):
            continue
        exact, zeros = getattr(check, "exact", False), getattr(check, "zeros", None) == "exact"
        for result in check.compared_results:
            known = found.setdefault((check.run, result), {})
            for case in evaluation.cases_of(check):
                before = known.get(case.name, (False, False))
                known[case.name] = exact or before[0], zeros or before[1]
    return found


def observe_results(
    evaluation: Evaluation,
    looked: ComparedCases,
    wanted: Iterable[tuple[str, str]],
    cases: Sequence[tuple[CaseRecipe, str]] | None = None,
) -> list[Observation]:
    """Some results, on the question's cases or on others made from them.

    Raises:
        WorkerError: the submission's process did not survive it.
    """
    own = [(c, n) for n, c in evaluation.cases.items()] if cases is None else cases
    return [
        _observation(evaluation, root, case, origin, own=cases is None, flags=looked[root][origin])
        for root in wanted
        for case, origin in own
        if origin in looked[root]
    ]


def _observation(
    evaluation: Evaluation,
    root: tuple[str, str],
    case: CaseRecipe,
    origin: str,
    *,
    own: bool,
    flags: tuple[bool, bool],
) -> Observation:
    (run, result), (exact, zeros) = root, flags
    truth: Mapping[str, Value] = evaluation.reference_outcome(run, case).values
    right = truth[result]

    def is_right(outcome: Outcome) -> bool:
        got = outcome.values.get(result)
        if (
            case.dtype == "float64"
            and isinstance(got, np.ndarray)
            and isinstance(right, np.ndarray)
        ):
            a, b = to_float64(got), to_float64(right)
            if a is not None and b is not None and a.shape == b.shape and np.isfinite(b).all():
                most = CERTAIN_DEVIATION * largest_magnitude(b)
                if most and not (np.abs(a - b) <= most).all():
                    return False  # without moving the inputs, which takes the reference twice
        return (
            find_mismatch(evaluation, run, case, result, outcome, exact=exact, zeros=zeros) is None
        )

    outcome, raised = Outcome({}), ""
    try:
        outcome = evaluation.submission_outcome(run, case)
    except ProgramError as error:
        raised = error.raised.type if error.raised else error.message
        needs = error.step is None or error.step in steps_producing(evaluation.steps(run), result)
        before = None if needs else result_despite_failure(evaluation, run, case, result)
        if before is not None and not is_right(before):
            outcome, raised = before, ""  # wrong before it raised: that may be why it did
    except WorkerError:
        if evaluation.submission.worker.failure is not None and not own:
            raise
        raised = "stopped"
    if own:
        key = ("everything", run, case.name, str(evaluation.parts_asked))
        truth = evaluation.remember(
            key, lambda: _everything(evaluation, run, case), evaluation.reference
        )
    drawn, needed = (
        evaluation.drawn_inputs(case),
        run_inputs(steps_producing(evaluation.steps(run), result)),
    )
    return Observation(
        run, result, case.name, origin, own, outcome.values.get(result), right,
        not raised and is_right(outcome), raised,
        {n: drawn[n] for n in needed}, {n: v for n, v in truth.items() if n != result},
        case.dtype,
    )  # fmt: skip


def _everything(evaluation: Evaluation, run: str, case: CaseRecipe) -> Mapping[str, Value]:
    """The right results of a run on one case that any check of any run looks at."""
    known, names = (
        evaluation.reference_outcome(run, case).values,
        compared_results_of_run(evaluation, run),
    )
    if set(names) <= set(known):
        return known
    with blame_bank(f"the reference fails on case {case.name}"):
        steps, inputs = evaluation.steps(run), evaluation.inputs(case, run)
        return {**evaluation.reference.run(steps, inputs, names).values, **known}


def compared_results_of_run(evaluation: Evaluation, run: str) -> tuple[str, ...]:
    """The results of a run that any check of any run looks at: dx as well as dx_again."""
    wanted = [name for names in evaluation.wanted_results.values() for name in names]
    made = set(assigned_names(evaluation.steps(run)))
    return tuple(
        dict.fromkeys([*evaluation.wanted_results[run], *(n for n in wanted if n in made)])
    )
