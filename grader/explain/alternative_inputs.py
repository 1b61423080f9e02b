"""What a wrong result equals: what is right for other inputs, or what a listed idea gives.

Both are rules like any other (`rules.py`): they hold on every failing case and on further inputs,
and no right case refutes them.  They are looked for where no rule says more than a place.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from grader.cases.draw import Array
from grader.cases.recipe import CaseRecipe
from grader.explain.observation import Observation, to_float64
from grader.explain.rules import (
    MIN_CASES,
    Rule,
    factor_in_words,
    prediction_rule,
    ratio_of_arrays,
    rules_holding_on,
)
from grader.grading.evaluation import BankProgramError, Evaluation
from grader.grading.values import Value
from grader.sandbox.client import WorkerError
from grader.sandbox.messages import ProgramError
from grader.sandbox.remote_program import RemoteProgram

MAX_CHANGES = 80  # changed inputs of one case that the reference is run on
MAX_VALUES = 6  # of an input in other cases
ValueChange = Callable[[Any], Any]
ArrayPrediction = Callable[[Observation], Array | None]

NUMBER_CHANGES: dict[str, ValueChange] = {
    "{} - 1": lambda v: v - 1,
    "{} + 1": lambda v: v + 1,
    "twice {}": lambda v: 2 * v,
    "half of {}": lambda v: v // 2 if isinstance(v, int) else v / 2,
    "-{}": lambda v: -v,
}
REAL_CHANGES: dict[str, ValueChange] = {
    "1 - {}": lambda v: 1 - v,
    "the square of {}": lambda v: v * v,
}
FLOAT_CHANGES: dict[str, ValueChange] = {
    "-{}": np.negative,
    "zeros": np.zeros_like,
    "{} cut off at 1 and -1": lambda v: np.clip(v, -1, 1),
    "{} + 1": lambda v: v + 1,
    "the square of {}": np.square,
    "the absolute value of {}": np.abs,
    "twice {}": lambda v: 2 * v,
    "half of {}": lambda v: v / 2,
}


@dataclass(frozen=True)
class InputChange:
    """Other inputs, made from those of a case."""

    text: str
    change_inputs: Callable[[Mapping[str, Value]], Mapping[str, Value]]
    varying_number: str = ""  # an input that has to vary: of 4 a half and two less are the same


@dataclass(frozen=True)
class AlternativeInputs:
    """The programs and inputs that a submission's results are held against."""

    question_cases: Evaluation
    extra_cases: Evaluation
    ideas: Sequence[tuple[str, str, RemoteProgram]]  # that may be behind it: name, what it is

    def matching_rules(self, failing: Sequence[Observation]) -> list[Rule]:
        """The rules that hold on all of some observations; the largest of these proposes."""
        first = max(
            failing, key=lambda seen: 0 if seen.expected_array is None else seen.expected_array.size
        )
        found = {}
        for name, said, program in self.ideas:
            rules = {rule.text: rule for rule in self._of_idea(said, program, first)}
            if held := rules_holding_on(rules_holding_on(rules.values(), [first]), failing):
                found[name] = held
        # What several ideas give names none of them.
        named = next(iter(found.values())) if len(found) == 1 else []
        return [
            *named,
            *rules_holding_on(rules_holding_on(self._of_changes(first), [first]), failing),
        ]

    def _at(self, seen: Observation) -> tuple[Evaluation, CaseRecipe]:
        evaluation = self.question_cases if seen.is_own_case else self.extra_cases
        return evaluation, evaluation.cases[seen.case]

    def _of_idea(self, said: str, program: RemoteProgram, first: Observation) -> Iterator[Rule]:
        """What an idea gives, that twice as far from the right one, and what is made of it."""

        def given(seen: Observation) -> Array | None:
            return _result(program, *self._at(seen), seen)

        (a, b), made = first.returned_and_expected, given(first)
        if made is None or made.shape != b.shape or first.is_close(made, b):
            return
        yield prediction_rule(8, f"is what a known mistake gives ({said})", given)
        if made.size < MIN_CASES:  # one number is some multiple of another, whatever the idea
            return
        if (k := ratio_of_arrays(a - b, made - b)) not in {0.0, 1.0}:
            text = f"is off by {factor_in_words(k)}what a known mistake is off by ({said})"
            yield prediction_rule(9, text, partial(_off, given, k))

    def _of_changes(self, first: Observation) -> Iterator[Rule]:
        changes = list(itertools.islice(self._changes(first.input_values), MAX_CHANGES))
        evaluation, case = self._at(first)
        if evaluation.can_be_batched(case):
            cases = [_changed(change, evaluation, case) for change in changes]
            evaluation.prefetch([self.question_cases.reference], first.run, filter(None, cases))
        right = first.returned_and_expected[1]
        # Many other inputs give one whole number.
        strict = right.size < MIN_CASES and bool((right == np.round(right)).all())
        for change in changes:
            rule = prediction_rule(
                10, f"is what would be right with {change.text}", partial(self._right_for, change)
            )
            varies = partial(_number, change.varying_number) if change.varying_number else None
            yield replace(rule, varying_size=varies, is_one_of_many=strict)

    def _right_for(self, change: InputChange, seen: Observation) -> Array | None:
        evaluation, case = self._at(seen)
        other = _changed(change, evaluation, case)
        return (
            None
            if other is None
            else _result(self.question_cases.reference, evaluation, other, seen)
        )

    def _changes(self, given: Mapping[str, Value]) -> Iterator[InputChange]:
        """What else the inputs could be, each input in turn, and two of them exchanged."""
        of_inputs = [list(self._of_input(name, value)) for name, value in given.items()]
        pairs = []
        for (one, v), (two, w) in itertools.combinations(given.items(), 2):
            alike = type(v) is type(w) and getattr(v, "shape", 0) == getattr(w, "shape", 0)
            if alike and v is not None:
                pairs.append(
                    InputChange(f"{one} and {two} exchanged", partial(_exchanged, one, two))
                )
        for several in itertools.zip_longest(*of_inputs, pairs):
            yield from filter(None, several)

    def _of_input(self, name: str, value: Value) -> Iterator[InputChange]:
        """What else one input could be."""
        table, varies = dict[str, ValueChange](), ""
        if isinstance(value, np.ndarray):
            table = FLOAT_CHANGES if value.dtype.kind == "f" else {}
        else:
            every = [
                case.inputs[name]
                for case in self.question_cases.cases.values()
                if name in case.inputs
            ]
            known = [recipe.literal for recipe in every if not recipe.is_array]
            if isinstance(value, bool):
                known = [not value]
            elif isinstance(value, (int, float)):
                table, varies = NUMBER_CHANGES, name
                if isinstance(value, float):
                    table, known = {**NUMBER_CHANGES, **REAL_CHANGES}, [0.0, 1.0, *known]
            for other in list(dict.fromkeys(known))[:MAX_VALUES]:
                if other != value:
                    yield InputChange(f"{name} = {other!r}", partial(_constant, name, other))
        for text, of in table.items():
            words = f"{text.format(name)} in place of {name}"
            yield InputChange(words, partial(_applied, name, of), varies)


def _constant(name: str, value: Value, _given: Mapping[str, Value]) -> dict[str, Value]:
    return {name: value}


def _applied(name: str, of: ValueChange, given: Mapping[str, Value]) -> dict[str, Value]:
    made = of(given[name])
    if isinstance(made, np.ndarray):
        made = np.ascontiguousarray(made, dtype=given[name].dtype)
    return {name: made}


def _exchanged(one: str, two: str, given: Mapping[str, Value]) -> dict[str, Value]:
    return {one: given[two], two: given[one]}


def _number(name: str, seen: Observation) -> float:
    return float(seen.input_values[name])


def _changed(change: InputChange, evaluation: Evaluation, case: CaseRecipe) -> CaseRecipe | None:
    """A case with other inputs; None where they cannot be made."""
    try:
        return evaluation.case_with_inputs(
            case, change.text, change.change_inputs(evaluation.drawn_inputs(case))
        )
    except (ValueError, TypeError, LookupError, ArithmeticError, AttributeError):
        return None


def _result(
    program: RemoteProgram, evaluation: Evaluation, case: CaseRecipe, seen: Observation
) -> Array | None:
    """A result of a program, as numbers; None where it gives none."""
    try:
        value: Any = evaluation.outcome(program, seen.run, case).values
        for key in (seen.result.partition("[")[0], *seen.path):
            value = value[key]
    except (ProgramError, WorkerError, BankProgramError, LookupError, TypeError):
        return None
    return to_float64(value)


def _off(given: ArrayPrediction, k: float, seen: Observation) -> Array | None:
    other, right = given(seen), seen.returned_and_expected[1]
    return None if other is None else right + k * (other - right)
