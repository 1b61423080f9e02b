"""Find pairs of features that no case of a question has, although each occurs in some case.

A *feature* is a property of an input, such as `mask False everywhere` or `eps at its limit 0`.
A program may be wrong only if two clauses meet: a mask and large scores, or nearly equal rewards
and a small eps.  If each clause has its own cases, such a program passes all of them.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations, product
from typing import Any, NamedTuple

import numpy as np

from grader.audit.unvaried_inputs import stated_limits, suggested_case
from grader.cases.recipe import CaseRecipe, Recipe, run_inputs
from grader.cases.vary import format_inputs
from grader.explain.extra_cases import ExtraCases
from grader.grading.evaluation import Evaluation
from grader.grading.kinds.registry import kind_of
from grader.grading.values import Value, to_array
from grader.model.number_format import format_count
from grader.sandbox.worker.wire import Tensor

MAX_LINES = 20  # sentences on a question
MAX_LINES_PER_FEATURE = 5
MAX_WRITTEN_ENTRIES = 64  # entries of an array that is written out
MAX_TRIED_CASES = 400  # cases that are tried on the reference; some do not combine two features
MAX_CASES_PER_FEATURE = 2  # cases with one feature that are combined with cases of another

# Weights of kinds of features: two features with high weights are likeliest to be wrong together.
# Any other kind weighs 0.
WEIGHTS = {
    **dict.fromkeys(("limit", "magnitude", "mask", "nearly", "pieces", "special"), 3),
    **dict.fromkeys(("number", "word"), 2),
    **dict.fromkeys(("dtype", "equal", "given"), 1),
}
MIN_PAIR_WEIGHT = 3  # a pair that weighs less is not listed
# The weight of a pair grows with the number of cases that chance would give both features, up to
# this number.
MAX_EXPECTED_CASES = 3.0

# Magnitudes that code may not expect.
LARGE_MAGNITUDE = 100
TINY_MAGNITUDE = 1e-3

NEARLY_EQUAL_SPREAD = 0.05  # spread of a row, relative to its largest magnitude
NEARLY_ZERO = 1e-6  # size of an entry, relative to the largest one
FAR_FROM_MEDIAN = 10  # a number is far if it is this factor above or below its median
MIN_ONE_SIGN_ENTRIES = 6  # fewer entries may have one sign by chance

_PIECE_SIZE_NAME = re.compile(r"block|chunk|group|tile|segment|stride|window|micro|page|head")

Array = np.ndarray[Any, Any]
PossibleFeatures = Iterator[tuple[object, str, str]]  # true if the input has it; its kind; its text


class Feature(NamedTuple):
    """A property of an input in some cases; an input has at most one feature of each kind."""

    name: str  # of the input
    kind: str  # a key of WEIGHTS, or another word
    text: str

    def __str__(self) -> str:
        """Return the input's name and the property."""
        return f"{self.name} {self.text}"


Pair = tuple[Feature, Feature]


class FeaturedCase(NamedTuple):
    """A case of a run, and the features of the inputs that the run reads."""

    case: CaseRecipe
    run: str
    names: frozenset[str]
    features: frozenset[Feature]


def uncombined_features(evaluation: Evaluation) -> Iterator[str]:
    """Yield a sentence on each pair of features that never meet, with a case to add.

    The pairs likeliest to be wrong together come first.  Pairs are left out if the reference
    accepts no case that has both.  The last sentence counts the pairs beyond the limits.
    """
    maker = _CaseMaker(evaluation)
    missing: dict[Pair, tuple[float, str]] = {}
    for function, cases in maker.cases.items():
        for pair, weight in _missing_pairs(list(cases.values())).items():
            missing.setdefault(pair, (-weight, function))

    lines_on: Counter[Feature] = Counter()
    more_pairs = 0
    for pair, (_, function) in sorted(missing.items(), key=lambda item: item[1]):
        is_known = any(lines_on[feature] == MAX_LINES_PER_FEATURE for feature in pair)
        is_full = lines_on.total() == 2 * MAX_LINES
        if is_known or is_full or maker.tried >= MAX_TRIED_CASES:
            more_pairs += 1
        elif case := maker.combined_case(function, pair):
            lines_on.update(pair)
            yield f"{function}: no case has both ({pair[0]}) and ({pair[1]}); add {case}"
    if more_pairs:
        yield format_count(more_pairs, "more pair")


def _missing_pairs(cases: Sequence[FeaturedCase]) -> dict[Pair, float]:
    """Return the weight of each pair of features that no case has, although one could.

    Pairs below MIN_PAIR_WEIGHT are left out.
    """
    cases_with: dict[Feature, frozenset[int]] = {}
    for number, case in enumerate(cases):
        for feature in case.features:
            cases_with[feature] = cases_with.get(feature, frozenset()) | {number}

    # Features of one kind may occur in the same cases, such as equal sizes of two arrays.  The
    # first of them stands for all.
    distinct = {
        (feature.kind, cases_with[feature]): feature for feature in sorted(cases_with, reverse=True)
    }
    missing = {}
    for pair in combinations(sorted(distinct.values()), 2):
        first, second = pair
        weight = sum(WEIGHTS.get(feature.kind, 0) for feature in pair)
        excludes = (first.name, first.kind) == (second.name, second.kind)
        if (
            weight >= MIN_PAIR_WEIGHT
            and not excludes
            and not cases_with[first] & cases_with[second]
        ):
            expected_cases = len(cases_with[first]) * len(cases_with[second]) / len(cases)
            missing[pair] = weight * (1 + min(expected_cases, MAX_EXPECTED_CASES))
    return missing


class _CaseMaker:
    """Makes cases that have two features, and tries them on the reference."""

    def __init__(self, evaluation: Evaluation) -> None:
        """Find the cases on which values of each function are compared, with their features."""
        self._evaluation = evaluation
        self._extra_cases = ExtraCases(evaluation)
        self.tried = 0  # number of cases
        self.cases: dict[str, dict[str, FeaturedCase]] = {}  # by function, then run and case
        question = evaluation.question
        for check in question.spec.checks:
            if check.stretch or not kind_of(check).judges_values:
                continue
            names = frozenset(run_inputs(question.runs[check.run]))
            functions = question.functions_called_by_runs([check.run]) or (check.run,)
            for case in evaluation.cases_of(check):
                features = features_of(evaluation, case, evaluation.drawn_inputs(case), names)
                featured = FeaturedCase(case, check.run, names, features)
                for function in functions:
                    by_name = self.cases.setdefault(function, {})
                    by_name[f"{check.run} on {case.name}"] = featured

    def combined_case(self, function: str, pair: Pair) -> str:
        """Return YAML of a case with both features; "" if the reference accepts none."""
        cases = self.cases[function].values()
        for first, added in (pair, pair[::-1]):
            reading = [case for case in cases if added.name in {*case.names, "dtype"}]
            bases = [case for case in reading if first in case.features]
            sources = [case for case in reading if added in case.features]
            for base, source in product(
                bases[:MAX_CASES_PER_FEATURE], sources[:MAX_CASES_PER_FEATURE]
            ):
                for case in self._with_feature(base.case, source.case, added):
                    if self._has_both(base, case, pair):
                        return self._as_yaml(base.case, case, added, pair)
        return ""

    def _with_feature(
        self, base: CaseRecipe, source: CaseRecipe, added: Feature
    ) -> Iterator[CaseRecipe]:
        """Yield the base case with the feature: it gets the input, or the dtype, of the source."""
        if added.kind == "dtype":
            yield replace(base, dtype=source.dtype)
            return
        recipe = source.inputs[added.name]
        shape = np.shape(self._evaluation.drawn_inputs(base)[added.name])
        for new_recipe in (_in_shape(recipe, shape), recipe):
            yield replace(base, inputs={**base.inputs, added.name: new_recipe})

    def _has_both(self, base: FeaturedCase, case: CaseRecipe, pair: Pair) -> bool:
        """Return True if a case has both features and the reference accepts it.

        Its results may not be NaN, unless NaN or infinity is one of the features.
        """
        self.tried += 1
        case = replace(case, name=f"{base.case.name}|combined {self.tried}")
        if not self._extra_cases.accepted_by_reference(base.run, [case], base.case.name):
            return False
        trial = self._extra_cases.evaluation
        features = features_of(self._evaluation, case, trial.drawn_inputs(case), base.names)
        results = trial.reference_outcome(base.run, case).values.values()
        if not features.issuperset(pair):
            return False
        may_be_nan = any(feature.kind == "special" for feature in pair)
        return may_be_nan or not any(_has_nan(value) for value in results)

    def _as_yaml(self, base: CaseRecipe, case: CaseRecipe, added: Feature, pair: Pair) -> str:
        """Return YAML of a case: `INPUT-and-INPUT: {extends: BASE, ...}` with the changed lines."""
        name = "-and-".join(dict.fromkeys(feature.name for feature in pair))
        base_lines = format_inputs(base, [])
        lines = format_inputs(case, [added.name])
        changes = [line for line in lines if line not in base_lines]
        return suggested_case(self._evaluation.question, name, base.name, *changes)


def _in_shape(recipe: Recipe, shape: tuple[int, ...]) -> Recipe:
    """Return a recipe in another shape; an array that is written out is repeated or cut."""
    if not recipe.is_array:
        return recipe
    if recipe.generator != "array":
        return replace(recipe, shape=shape, like=None)
    array = np.asarray(recipe.literal)
    if not array.size or array.ndim != len(shape) or math.prod(shape) > MAX_WRITTEN_ENTRIES:
        return recipe
    for axis, size in enumerate(shape):
        array = array.take(range(size), axis, mode="wrap")
    return replace(recipe, literal=array.tolist())


def _has_nan(value: Value) -> bool:
    """Return True if a number is NaN, or if an array contains NaN."""
    if not isinstance(value, (float, np.ndarray, Tensor)):
        return False
    return bool(np.isnan(to_array(value)).any())


# -- features of inputs ---------------------------------------------------------------------------


def features_of(
    evaluation: Evaluation, case: CaseRecipe, drawn: Mapping[str, Any], names: Collection[str]
) -> frozenset[Feature]:
    """Return the features of the inputs with these names, and of the case's dtype.

    Args:
        evaluation: has all cases of the question, to tell which numbers are unusual.
        case: the case that the inputs belong to.
        drawn: values of all inputs of the case, by name.
        names: the inputs whose features are returned.
    """
    features: dict[tuple[str, str], str] = {}
    if case.dtype != "float64":
        features["dtype", "dtype"] = case.dtype
    sizes = [size for name in names for size in np.shape(drawn[name])]
    for name in names:
        for holds, kind, text in _possible_features(evaluation, name, drawn[name], sizes):
            if holds:
                features.setdefault((name, kind), text)
    return frozenset(Feature(*key, text) for key, text in features.items())


def _possible_features(
    evaluation: Evaluation,
    name: str,
    value: Any,  # noqa: ANN401 any input
    sizes: Collection[int],
) -> PossibleFeatures:
    """Yield each feature that an input of this type may have, and whether this one has it.

    Of the features of one kind that it has, only the first counts.
    """
    if isinstance(value, np.ndarray):
        yield from _array_features(value)
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        yield from _number_features(evaluation, name, value, sizes)
    elif value is None:
        yield True, "given", "left out"
    else:
        yield True, "word", str(value)


def _number_features(
    evaluation: Evaluation, name: str, value: float, sizes: Collection[int]
) -> PossibleFeatures:
    """Yield whether a number has unusual features, such as to divide no axis as a block size."""
    recipes = [case.inputs[name] for case in evaluation.cases.values() if name in case.inputs]
    numbers = [recipe.literal for recipe in recipes if isinstance(recipe.literal, (int, float))]
    median = float(np.median(numbers))
    is_far_above = abs(value) >= FAR_FROM_MEDIAN * abs(median)
    is_far_below = abs(value) * FAR_FROM_MEDIAN <= abs(median)
    is_unusual = is_far_above or is_far_below or value in {0, 1} or value < 0
    is_limit = value in stated_limits(evaluation.question, name)
    yield is_limit, "limit", f"at its limit {value:g}"
    yield is_unusual and not is_limit and value != median, "number", f"{value:g}"
    if value > 1 and _PIECE_SIZE_NAME.search(name):
        divides_an_axis = any(size > value and size % value == 0 for size in sizes)
        yield not divides_an_axis, "pieces", "dividing no axis into equal pieces"


def _array_features(array: Array) -> PossibleFeatures:
    """Yield whether an array has unusual features, such as an axis of size 1."""
    for axis, size in enumerate(array.shape):
        yield size <= 1, f"size of axis {axis}", f"of size {size} along axis {axis}"
    if not array.size:
        return
    if array.dtype == bool:
        yield not array.any(), "mask", "False everywhere"
        yield not _rows(array).any(axis=1).all(), "mask", "with a whole row False"
        yield not array.all(), "mask", "partly False"
    elif array.dtype.kind != "f":
        yield array.size > 1 and np.ptp(array) == 0, "equal", "with all entries equal"
        yield (array < 0).any(), "sign", "with negative entries"
    else:
        yield from _float_features(array)


def _float_features(array: Array) -> PossibleFeatures:
    """Yield whether an array of floats, not empty, has unusual features, such as NaN or a zero."""
    yield np.isnan(array).any(), "special", "with NaN"
    yield np.isinf(array).any(), "special", "with infinite entries"
    magnitudes = np.abs(array[np.isfinite(array)])
    largest = magnitudes.max(initial=0.0)
    near_zero = (magnitudes > 0) & (magnitudes < NEARLY_ZERO * largest)
    yield largest > LARGE_MAGNITUDE, "magnitude", f"above {LARGE_MAGNITUDE} in magnitude"
    yield 0 < largest < TINY_MAGNITUDE, "magnitude", f"below {TINY_MAGNITUDE:g} throughout"
    yield near_zero.any(), "magnitude", "with entries near 0 beside larger ones"
    yield array.size >= MIN_ONE_SIGN_ENTRIES and (array < 0).all(), "sign", "negative everywhere"

    rows = _rows(array)
    has_nonzero = rows.any(axis=1)
    yield not array.any(), "zero", "0 everywhere"
    yield not has_nonzero.all(), "zero", "with a whole row of zeros"
    yield (array == 0).any(), "zero", "with some zeros"

    finite_rows = rows[has_nonzero & np.isfinite(rows).all(axis=1)]
    gaps = np.diff(np.sort(finite_rows))
    spread = gaps.sum(axis=1)
    largest_in_row = np.abs(finite_rows).max(axis=1)
    is_near = (spread > 0) & (spread <= NEARLY_EQUAL_SPREAD * largest_in_row)
    yield is_near.any(), "nearly", "with nearly equal entries in a row"
    yield gaps.size and (spread == 0).any(), "equal", "with a row of equal entries"
    yield (gaps == 0).any(), "equal", "with equal entries in a row"


def _rows(array: Array) -> Array:
    """Return the rows along the last axis as a matrix."""
    return array.reshape(-1, array.shape[-1] if array.ndim else 1)
