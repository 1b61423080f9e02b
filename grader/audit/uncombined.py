"""Find features that no case of a question has together, although each occurs in some case.

A program may be wrong only where two clauses meet: a mask and large scores, nearly equal rewards
and a small eps.  Each clause has its cases, and the program passes them all.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations, product
from typing import NamedTuple

import numpy as np

from grader.audit.features import Feature, FeatureFinder
from grader.audit.unvaried import case_to_paste
from grader.cases.recipe import CaseRecipe, Recipe, free_names
from grader.cases.vary import written
from grader.evaluation.evaluation import BankFault, Evaluation
from grader.evaluation.values import Value, array_of
from grader.explain.further import Domain
from grader.kinds import registry
from grader.model.numerals import quantity
from grader.sandbox.worker.wire import Tensor
from grader.session import GradingSession

MOST_LINES = 12  # of a question
MOST_PARTNERS = 3  # features that a line names beside its first one
MOST_WRITTEN = 64  # entries of an array that is written out
MOST_TRIED = 400  # cases of a question that are made, not all of which combine what they should

# Kinds of features; those that are likeliest to be wrong in combination weigh most.  Others: 0.
WEIGHTS = {
    **dict.fromkeys(("limit", "magnitude", "mask", "nearly", "pieces", "special"), 3),
    **dict.fromkeys(("number", "word"), 2),
    **dict.fromkeys(("dtype", "equal", "given"), 1),
}
LEAST_WEIGHT = 3  # of a pair that is listed

Pair = tuple[Feature, Feature]


class FeaturedCase(NamedTuple):
    """A case of a run, and the features of the inputs that the run reads."""

    case: CaseRecipe
    run: str
    names: frozenset[str]
    features: frozenset[Feature]

    def reads(self, *features: Feature) -> bool:
        """Return True if the run reads the inputs of these features."""
        return {feature.name for feature in features} <= {*self.names, "dtype"}


class Line(NamedTuple):
    """A feature of a function's cases, and features that never accompany it."""

    function: str
    first: Feature
    partners: list[Feature]
    proposal: str  # a case with the first partner

    def __str__(self) -> str:
        """Return a sentence."""
        either = "any of " if len(self.partners) > 1 else ""
        listed = ", ".join(f"({partner})" for partner in self.partners)
        pairs = f"({self.first}) and {either}{listed}"
        return f"{self.function}: no case has both {pairs}; add {self.proposal}"


def uncombined(session: GradingSession, evaluation: Evaluation) -> Iterator[str]:
    """Yield a sentence, with a case to add, for each feature that some others never accompany."""
    maker = _CaseMaker(session, evaluation)
    missing: dict[Pair, tuple[float, str]] = {}
    for function, cases in maker.cases.items():
        for pair, weight in _missing(cases).items():
            missing.setdefault(pair, (-weight, function))
    lines: list[Line] = []
    more = 0
    for pair, (_, function) in sorted(missing.items(), key=lambda item: item[1]):
        fitting = [
            line
            for line in lines
            if line.function == function
            and line.first in pair
            and len(line.partners) < MOST_PARTNERS
        ]
        first, second = pair
        if fitting and fitting[0].first == second:
            first, second = second, first
        if maker.tried >= MOST_TRIED or (not fitting and len(lines) == MOST_LINES):
            more += 1
        elif proposal := maker.text(function, first, second):
            if not fitting:
                fitting = [Line(function, first, [], proposal)]
                lines += fitting
            fitting[0].partners.append(second)
    yield from map(str, lines)
    if more:
        yield quantity(more, "more pair")


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
        if weight < LEAST_WEIGHT or is_one_kind or having[one] & having[other]:
            continue
        if any(case.reads(one, other) for case in cases):
            expected = len(having[one]) * len(having[other]) / len(cases)
            missing[one, other] = weight * (1 + min(expected, 3.0))
    return missing


class _CaseMaker:
    """Makes cases that have two features, and tries them on the reference."""

    def __init__(self, session: GradingSession, evaluation: Evaluation) -> None:
        """Find the cases on which values of each function are compared, with their features."""
        self._session, self._evaluation = session, evaluation
        self._domain = Domain(evaluation)
        self._trial = evaluation.with_bank_program(evaluation.reference)
        self.tried = 0
        question = session.question
        used = {
            (check.run, case.name): case
            for check in question.spec.checks
            if not check.stretch and registry.get(check.kind).judges_values
            for case in evaluation.cases_of(check)
        }
        self._finder = FeatureFinder(evaluation, used.values())
        self.cases: dict[str, list[FeaturedCase]] = {}  # by function
        for (run, _), case in used.items():
            names = frozenset(free_names(question.runs[run]))
            features = self._finder.of(evaluation, case, names)
            for function in question.functions_of_runs([run]) or (run,):
                featured = FeaturedCase(case, run, names, features)
                self.cases.setdefault(function, []).append(featured)

    def text(self, function: str, one: Feature, other: Feature) -> str:
        """Return a case with both as YAML; empty if the question's inputs allow none."""
        for first, added in ((one, other), (other, one)):
            cases = [case for case in self.cases[function] if case.reads(first, added)]
            bases = [case for case in cases if first in case.features]
            sources = [case for case in self.cases[function] if added in case.features]
            for base, source in product(bases[:2], sources[:2]):
                for case in self._combined(base.case, source.case, added):
                    if self._is_possible(base, case, {one, other}):
                        before = written(base.case, base.case.inputs)
                        lines = written(case, case.inputs)
                        changes = [line for line in lines if line not in before]
                        name = "-and-".join(dict.fromkeys((one.name, other.name)))
                        return case_to_paste(self._session.question, name, base.case.name, *changes)
        return ""

    def _combined(
        self, base: CaseRecipe, source: CaseRecipe, added: Feature
    ) -> Iterator[CaseRecipe]:
        """Yield a case with the input, or the dtype, from which another case has a feature."""
        if added.kind == "dtype":
            yield replace(base, dtype=source.dtype)
            return
        recipe = source.inputs[added.name]
        shape = np.shape(self._evaluation.drawn(base)[added.name])
        for given in (_in_shape(recipe, shape), recipe):
            yield replace(base, inputs={**base.inputs, added.name: given})

    def _is_possible(self, base: FeaturedCase, case: CaseRecipe, wanted: set[Feature]) -> bool:
        """Return True if a case has the features and the reference computes with it."""
        self.tried += 1
        case = replace(case, name=f"{base.case.name}|combined {self.tried}")
        self._trial.cases = {case.name: case}
        try:
            if not wanted <= self._finder.of(self._trial, case, base.names):
                return False
            results = self._trial.truth(base.run, case).values
            may_be_nan = any(feature.kind == "special" for feature in wanted)
            if not may_be_nan and any(map(_has_nan, results.values())):
                return False
            return self._domain.holds(self._trial, base.run, case, base.case.name)
        except BankFault:
            self._session.bank.restore()  # the input may have been too much for its process
            return False


def _in_shape(recipe: Recipe, shape: tuple[int, ...]) -> Recipe:
    """Return a recipe in another shape; what is written out is repeated or cut."""
    if not recipe.is_array:
        return recipe
    if recipe.generator != "array":
        return replace(recipe, shape=shape, like=None)
    array = np.asarray(recipe.literal)
    if not array.size or array.ndim != len(shape) or math.prod(shape) > MOST_WRITTEN:
        return recipe
    for axis, size in enumerate(shape):
        array = array.take(range(size), axis, mode="wrap")
    return replace(recipe, literal=array.tolist())


def _has_nan(value: Value) -> bool:
    """Return True if an array or a number is or has NaN."""
    if not isinstance(value, (float, np.ndarray, Tensor)):
        return False
    array = array_of(value)
    return array.dtype.kind == "f" and bool(np.isnan(array).any())
