"""Find features that no case of a question has together, although each occurs in some case.

A program may be wrong only if two clauses meet: a mask and large scores, or nearly equal rewards
and a small eps.  If each clause has its own cases, such a program passes all of them.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations, product
from typing import NamedTuple

import numpy as np

from grader.audit.features import Feature, features_of
from grader.audit.unvaried_inputs import suggested_case
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
MAX_CASES_PER_FEATURE = 2  # cases with a feature that are combined with those of another

# Weights of kinds of features: those that are likeliest to be wrong together weigh most.
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

Pair = tuple[Feature, Feature]


class FeaturedCase(NamedTuple):
    """A case of a run, and the features of the inputs that the run reads."""

    case: CaseRecipe
    run: str
    names: frozenset[str]
    features: frozenset[Feature]


def uncombined_features(evaluation: Evaluation) -> Iterator[str]:
    """Yield a sentence on each pair of features that never meet, with a case to add."""
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
    """Return the weights of the pairs of features that could occur together and do not."""
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
        self.tried = 0  # cases
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
        """Return a case with both features as YAML; empty if the inputs allow none."""
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
        """Return True if a case has both features and the reference accepts it."""
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
        """Return a case as an extension of its base, named after both inputs."""
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
    """Return True if an array or a number is or has NaN."""
    if not isinstance(value, (float, np.ndarray, Tensor)):
        return False
    return bool(np.isnan(to_array(value)).any())
