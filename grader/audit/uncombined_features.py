"""Find features that no case of a question has together, although each occurs in some case.

A program may be wrong only where two clauses meet: a mask and large scores, nearly equal rewards
and a small eps.  Each clause has its cases, and the program passes them all.
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
from grader.grading.kinds import registry
from grader.grading.values import Value, to_array
from grader.model.number_format import format_count
from grader.sandbox.worker.wire import Tensor

MAX_LINES = 20  # of a question
MAX_LINES_PER_FEATURE = 5  # lines on a feature
MAX_WRITTEN_ENTRIES = 64  # entries of an array that is written out
MAX_TRIED_CASES = (
    400  # cases of a question that are made, not all of which combine what they should
)

# Kinds of features; those that are likeliest to be wrong in combination weigh most.  Others: 0.
WEIGHTS = {
    **dict.fromkeys(("limit", "magnitude", "mask", "nearly", "pieces", "special"), 3),
    **dict.fromkeys(("number", "word"), 2),
    **dict.fromkeys(("dtype", "equal", "given"), 1),
}
MIN_WEIGHT = 3  # of a pair that is listed

Pair = tuple[Feature, Feature]


class FeaturedCase(NamedTuple):
    """A case of a run, and the features of the inputs that the run reads."""

    case: CaseRecipe
    run: str
    names: frozenset[str]
    features: frozenset[Feature]


def uncombined_features(evaluation: Evaluation) -> Iterator[str]:
    """Yield a sentence, with a case to add, on each pair of features that never meet."""
    maker = _CaseMaker(evaluation)
    missing: dict[Pair, tuple[float, str]] = {}
    for function, cases in maker.cases.items():
        for pair, weight in _missing([*cases.values()]).items():
            missing.setdefault(pair, (-weight, function))
    listed: Counter[Feature] = Counter()
    more = 0
    for pair, (_, function) in sorted(missing.items(), key=lambda item: item[1]):
        is_known = any(listed[feature] == MAX_LINES_PER_FEATURE for feature in pair)
        if is_known or listed.total() == 2 * MAX_LINES or maker.tried >= MAX_TRIED_CASES:
            more += 1
        elif case := maker.text(function, *pair):
            listed.update(pair)
            yield f"{function}: no case has both ({pair[0]}) and ({pair[1]}); add {case}"
    if more:
        yield format_count(more, "more pair")


def _missing(cases: Sequence[FeaturedCase]) -> dict[Pair, float]:
    """Return pairs that could occur and do not, with how much each is worth a look."""
    having: dict[Feature, frozenset[int]] = {}  # the numbers of the cases that have a feature
    for number, case in enumerate(cases):
        for feature in case.features:
            having[feature] = having.get(feature, frozenset()) | {number}
    # Of features of a kind that the same cases have, such as equal sizes of two arrays, the first.
    alike = {(f.kind, having[f]): f for f in sorted(having, reverse=True)}
    missing = {}
    for one, other in combinations(sorted(alike.values()), 2):
        weight = WEIGHTS.get(one.kind, 0) + WEIGHTS.get(other.kind, 0)
        is_one_kind = one[:2] == other[:2]  # of one input: they exclude each other
        if weight >= MIN_WEIGHT and not is_one_kind and not having[one] & having[other]:
            expected = len(having[one]) * len(having[other]) / len(cases)
            missing[one, other] = weight * (1 + min(expected, 3.0))
    return missing


class _CaseMaker:
    """Makes cases that have two features, and tries them on the reference."""

    def __init__(self, evaluation: Evaluation) -> None:
        """Find the cases on which values of each function are compared, with their features."""
        self._evaluation = evaluation
        self._further = ExtraCases(evaluation)
        self.tried = 0
        self.cases: dict[str, dict[str, FeaturedCase]] = {}  # by function and name
        question = evaluation.question
        for check in question.spec.checks:
            if check.stretch or not registry.kind_named(check.kind).judges_values:
                continue
            names = frozenset(run_inputs(question.runs[check.run]))
            functions = question.functions_called_by_runs([check.run]) or (check.run,)
            for case in evaluation.cases_of(check):
                features = features_of(evaluation, case, evaluation.drawn_inputs(case), names)
                featured = FeaturedCase(case, check.run, names, features)
                for function in functions:
                    named = self.cases.setdefault(function, {})
                    named[f"{check.run} on {case.name}"] = featured

    def text(self, function: str, one: Feature, other: Feature) -> str:
        """Return a case with both as YAML; empty if the question's inputs allow none."""
        cases = self.cases[function].values()
        for first, added in ((one, other), (other, one)):
            reading = [case for case in cases if added.name in {*case.names, "dtype"}]
            bases = [case for case in reading if first in case.features]
            sources = [case for case in reading if added in case.features]
            for base, source in product(bases[:2], sources[:2]):
                for case in self._combined(base.case, source.case, added):
                    if self._is_possible(base, case, {one, other}):
                        name = "-and-".join(dict.fromkeys((one.name, other.name)))
                        before = format_inputs(base.case, [])
                        lines = format_inputs(case, [added.name])
                        changes = [line for line in lines if line not in before]
                        return suggested_case(
                            self._evaluation.question, name, base.case.name, *changes
                        )
        return ""

    def _combined(
        self, base: CaseRecipe, source: CaseRecipe, added: Feature
    ) -> Iterator[CaseRecipe]:
        """Yield a case with the input, or the dtype, from which another case has a feature."""
        if added.kind == "dtype":
            yield replace(base, dtype=source.dtype)
            return
        recipe = source.inputs[added.name]
        shape = np.shape(self._evaluation.drawn_inputs(base)[added.name])
        for given in (_in_shape(recipe, shape), recipe):
            yield replace(base, inputs={**base.inputs, added.name: given})

    def _is_possible(self, base: FeaturedCase, case: CaseRecipe, wanted: set[Feature]) -> bool:
        """Return True if a case has the features and the reference computes with it."""
        self.tried += 1
        case = replace(case, name=f"{base.case.name}|combined {self.tried}")
        if not self._further.accepted_by_reference(base.run, [case], base.case.name):
            return False
        trial = self._further.evaluation
        features = features_of(self._evaluation, case, trial.drawn_inputs(case), base.names)
        results = trial.reference_outcome(base.run, case).values.values()
        may_be_nan = any(feature.kind == "special" for feature in wanted)
        return wanted <= features and (may_be_nan or not any(map(_has_nan, results)))


def _in_shape(recipe: Recipe, shape: tuple[int, ...]) -> Recipe:
    """Return a recipe in another shape; what is written out is repeated or cut."""
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
    is_number = isinstance(value, (float, np.ndarray, Tensor))
    return is_number and bool(np.isnan(to_array(value)).any())
