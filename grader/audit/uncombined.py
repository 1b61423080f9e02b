"""Find features that no case of a question has together, although each occurs in some case.

A program may be wrong only where two clauses meet: a mask and large scores, nearly equal rewards
and a small eps.  Each clause has its cases, and the program passes them all.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np

from grader.audit.features import LARGE, TINY, Feature, FeatureFinder
from grader.audit.unvaried import is_distribution
from grader.cases.recipe import CaseRecipe, Recipe, free_names
from grader.cases.vary import written
from grader.evaluation.evaluation import BankFault, Evaluation
from grader.evaluation.values import array_of
from grader.explain.further import Domain
from grader.kinds import registry
from grader.model.numerals import quantity
from grader.model.question import Question
from grader.session import GradingSession

MOST_LINES = 12  # of a question
MOST_PARTNERS = 3  # features that a line names beside its first one
MOST_WRITTEN = 64  # entries of a mask that is written out
MOST_TRIED = 400  # cases of a question that are made, not all of which combine what they should
READABLE = 12  # entries of another array

LEAST_WEIGHT = 2.5  # of a pair that is listed: the product of its kinds' weights
# Kinds of features; those that are likeliest to be wrong in combination weigh most.
WEIGHTS = {
    "magnitude": 3.0,
    "special": 3.0,
    "mask": 3.0,
    "nearly": 3.0,
    "limit": 3.0,
    "pieces": 2.5,
    "number": 2.0,
    "word": 2.0,
    "equal": 1.5,
    "zero": 1.0,
    "given": 1.5,
    "dtype": 1.5,
    "sign": 1.0,
    "size": 1.0,
}

Array = np.ndarray[Any, Any]
Pair = frozenset[Feature]


@dataclass(frozen=True, slots=True)
class FeaturedCase:
    """A case of a run, and the features of the inputs that the run reads."""

    case: CaseRecipe
    run: str
    names: frozenset[str]
    features: frozenset[Feature]


def uncombined(session: GradingSession, evaluation: Evaluation) -> Iterator[str]:
    """Yield a sentence, with a case to add, for each feature that some others never accompany."""
    known: set[Pair] = set()
    domain = Domain(evaluation)
    numbers = iter(range(MOST_TRIED))
    lines: list[tuple[float, str]] = []
    more = 0
    for function, cases in _cases_by_function(session.question, evaluation).items():
        pairs = {pair: score for pair, score in _missing(cases).items() if pair not in known}
        known |= pairs.keys()
        maker = _CaseMaker(session, evaluation, domain, numbers, cases)
        for _ in range(MOST_LINES):
            if not pairs:
                break
            first, partners = _weightiest(pairs)
            score, possible, proposal = 0.0, list[Feature](), ""
            for partner in partners[: MOST_PARTNERS + 2]:
                pair = frozenset((first, partner))
                score = max(score, pairs.pop(pair))
                if (text := maker.text(first, partner)) and len(possible) < MOST_PARTNERS:
                    possible.append(partner)
                    proposal = proposal or text
            if possible:
                listed = ", ".join(f"({partner})" for partner in possible)
                either = "any of " if len(possible) > 1 else ""
                sentence = f"no case has both ({first}) and {either}{listed}; add {proposal}"
                lines.append((score, f"{function}: {sentence}"))
        more += len(pairs)
    lines.sort(key=lambda line: -line[0])
    yield from (line for _, line in lines[:MOST_LINES])
    more += max(0, len(lines) - MOST_LINES)
    if more:
        yield quantity(more, "more pair")


def _cases_by_function(question: Question, evaluation: Evaluation) -> dict[str, list[FeaturedCase]]:
    """Return the cases on which values of each function are compared, with their features."""
    used: dict[str, dict[str, CaseRecipe]] = {}  # by run and case
    for check in question.spec.checks:
        if not check.stretch and registry.get(check.kind).judges_values:
            used.setdefault(check.run, {}).update({c.name: c for c in evaluation.cases_of(check)})
    features = FeatureFinder(evaluation, [c for cases in used.values() for c in cases.values()])
    found: dict[str, list[FeaturedCase]] = {}
    for run, cases in used.items():
        names = frozenset(free_names(question.runs[run]))
        featured = [
            FeaturedCase(case, run, names, features.of(case, evaluation.drawn(case), names))
            for case in cases.values()
        ]
        for function in question.functions_of_runs([run]) or (run,):
            found.setdefault(function, []).extend(featured)
    return found


def _missing(cases: Sequence[FeaturedCase]) -> dict[Pair, float]:
    """Return pairs that could occur and do not, with how much each is worth a look."""
    counts = Counter(feature for case in cases for feature in case.features)
    together = {frozenset(pair) for case in cases for pair in combinations(case.features, 2)}
    readable = {frozenset(pair) for case in cases for pair in combinations(sorted(case.names), 2)}
    missing = {}
    for one, other in combinations(sorted(counts), 2):
        same = one.name == other.name
        if frozenset((one, other)) in together or (same and one.kind == other.kind):
            continue
        weight = WEIGHTS[one.kind] * WEIGHTS[other.kind]
        if weight < LEAST_WEIGHT:
            continue
        names = {one.name, other.name} - {"dtype"}
        if len(names) > 1 and frozenset(names) not in readable:
            continue
        expected = counts[one] * counts[other] / len(cases)
        score = weight * (1 + min(expected, 3.0))
        missing[frozenset((one, other))] = score / 2 if same else score
    return missing


def _weightiest(pairs: Mapping[Pair, float]) -> tuple[Feature, list[Feature]]:
    """Return the feature whose best pairs weigh most, and its partners, the weightiest first."""
    partners: dict[Feature, list[tuple[float, Feature]]] = {}
    for pair, score in pairs.items():
        one, other = sorted(pair)
        partners.setdefault(one, []).append((score, other))
        partners.setdefault(other, []).append((score, one))
    for found in partners.values():
        found.sort(key=lambda partner: (-partner[0], partner[1]))
    first = max(
        sorted(partners), key=lambda f: sum(score for score, _ in partners[f][:MOST_PARTNERS])
    )
    return first, [partner for _, partner in partners[first]]


# -- cases that combine two features ---------------------------------------------------------------


class _CaseMaker:
    """Makes cases that have two features, and tries them on the reference."""

    def __init__(
        self,
        session: GradingSession,
        evaluation: Evaluation,
        domain: Domain,
        numbers: Iterator[int],
        cases: Sequence[FeaturedCase],
    ) -> None:
        """Learn what holds of each array in every case; make nothing yet."""
        self._session, self._evaluation, self._cases = session, evaluation, cases
        self._finder = FeatureFinder(evaluation, [featured.case for featured in cases])
        self._domain = domain
        self._trial = evaluation.with_bank_program(evaluation.reference)
        self._numbers = numbers
        self._laws: dict[str, set[str]] = {}
        for featured in cases:
            drawn = evaluation.drawn(featured.case)
            for name in featured.names:
                laws = _laws_of(drawn[name])
                self._laws[name] = self._laws.get(name, laws) & laws

    def text(self, one: Feature, other: Feature) -> str:
        """Return a case with both as YAML; empty if the question's inputs allow none."""
        for base_feature, added in ((one, other), (other, one)):
            sources = [case for case in self._cases if added in case.features]
            for base in [case for case in self._cases if base_feature in case.features][:2]:
                for case in _with_feature(base, added, sources[:2], self._evaluation):
                    if self._is_possible(base, case, {one, other}):
                        return self._written(base.case, case, one, other)
        return ""

    def _is_possible(self, base: FeaturedCase, case: CaseRecipe, wanted: set[Feature]) -> bool:
        """Return True if a case has the features and the reference computes with it."""
        if not base.names <= case.inputs.keys():
            return False
        if (number := next(self._numbers, None)) is None:
            return False
        case = replace(case, name=f"{base.case.name}|combined {number}")
        new = self._trial
        new.cases = {case.name: case}
        try:
            drawn = new.drawn(case)
            if not wanted <= self._finder.of(case, drawn, base.names):
                return False
            if not all(self._laws[name] <= _laws_of(drawn[name]) for name in base.names):
                return False
            truth = new.truth(base.run, case)
            if not self._domain.holds(new, base.run, case, base.case.name):
                return False
        except (BankFault, KeyError):
            self._session.bank.restore()  # the input may have been too much for its process
            return False
        if any(feature.kind == "special" for feature in wanted):
            return True
        return not any(_has_nan(value) for value in truth.values.values())

    def _written(self, base: CaseRecipe, case: CaseRecipe, one: Feature, other: Feature) -> str:
        """Return a case as a line of YAML that extends another one."""
        words = [re.sub("[^a-z0-9]+", "-", f.name.lower()).strip("-") for f in (one, other)]
        name = "-and-".join(dict.fromkeys(words))
        while name in self._session.question.spec.cases:
            name += "-2"
        changed = [key for key in case.inputs if case.inputs[key] != base.inputs.get(key)]
        lines = [f"extends: {base.name}", *written(replace(case, dtype="float64"), changed)]
        if case.dtype != base.dtype:
            lines.append(f"dtype: {case.dtype}")
        return f"`{name}: {{{', '.join(lines)}}}`"


def _laws_of(value: Any) -> set[str]:  # noqa: ANN401 whatever is drawn
    """Return laws that an array keeps; a law that holds in every case is taken to be meant."""
    if value is None or isinstance(value, (bool, int, float, str)):
        return set()
    array = np.asarray(array_of(value))
    if array.dtype.kind not in "fiu":
        return set()
    laws = {"distribution"} if is_distribution(array) else set()
    if not (array < 0).any():
        laws |= {"never negative"} if (array > 1).any() else {"never negative", "from 0 to 1"}
    if not (array > 0).any():
        laws.add("never positive")
    if not (array == 0).any():
        laws.add("never 0")
    return laws


def _has_nan(value: Any) -> bool:  # noqa: ANN401 whatever a reference returns
    try:
        return bool(np.isnan(np.asarray(array_of(value), np.float64)).any())
    except (TypeError, ValueError):
        return False


def _with_feature(
    base: FeaturedCase, added: Feature, sources: Sequence[FeaturedCase], evaluation: Evaluation
) -> Iterator[CaseRecipe]:
    """Yield changes of a case that may give it a feature of other cases."""
    case = replace(base.case, draws=1)
    if added.kind == "dtype":
        yield replace(case, dtype=added.text)
        return
    if added.name not in case.inputs:
        return
    own, value = case.inputs[added.name], evaluation.drawn(base.case)[added.name]
    recipes = [source.case.inputs[added.name] for source in sources]
    if added.kind == "pieces":
        recipes += [Recipe(None, number) for number in (2, 3, 1, 5, 100)]
    elif own.is_array and added.kind not in {"size", "given"}:
        recipes = [*_recipes(own, np.asarray(array_of(value)), added), *recipes]
    for recipe in recipes:
        yield replace(case, inputs={**case.inputs, added.name: recipe})


def _recipes(own: Recipe, array: Array, added: Feature) -> Iterator[Recipe]:
    """Yield recipes of an array's shape that may have a feature."""
    whole = array.dtype.kind != "f"

    def made(generator: str, **options: Any) -> Recipe:  # noqa: ANN401 whatever YAML holds
        return Recipe(generator, None, array.shape, None, options, own.dtype, own.layout)

    def changed(**options: Any) -> Recipe:  # noqa: ANN401 whatever YAML holds
        long = own.generator == "array" and array.size > READABLE and not whole
        return (
            made("normal", **options) if long else replace(own, options={**own.options, **options})
        )

    match added.kind:
        case "magnitude" if "beside" not in added.text:
            largest = np.abs(array[np.isfinite(array)]).max(initial=0.0)
            goal = 10 * LARGE if "above" in added.text else TINY / 10
            if largest:
                factor = 10.0 ** round(float(np.log10(goal / largest)))
                yield changed(scale=(own.option("scale") or 1) * factor)
        case "special":
            bad = np.nan if "NaN" in added.text else -np.inf
            yield changed(sprinkle={"value": bad, "share": 0.3})
        case "zero":
            yield changed(sprinkle={"value": 0.0, "share": 0.5})
            yield made("zeros")
        case "nearly":
            yield made("normal", scale=0.001, shift=1.0)
        case "equal":
            yield made("full", value=1 if whole else 0.5)
            yield made("integers", **{"from": -1, "to": 1})
            yield made("integers", **{"from": 1, "to": 2})
        case "sign" if whole:
            yield made("integers", **{"from": -1, "to": 1})
        case "sign":
            yield made("uniform", **{"from": -2, "to": -1})
        case "mask" if array.ndim and array.size <= MOST_WRITTEN:
            mask = np.ones(array.shape, int)
            mask.reshape(-1, array.shape[-1])[0, : None if "row" in added.text else 1] = 0
            yield Recipe("array", mask.tolist(), None, None, {}, "bool")
