"""Find what a wrong result equals: the expected result for other inputs, or the result of an idea.

What is found is a rule as in `rules.py`, such as "is what would be right with n + 1 in place of n".
It must hold on every failing case, extra inputs included.  These rules are tried only on a result
about which no other statement is found, except on which of its entries are wrong.
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
from grader.grading.bank_errors import BankProgramError
from grader.grading.evaluation import Evaluation
from grader.grading.values import Value
from grader.sandbox.client import WorkerError
from grader.sandbox.messages import ProgramError
from grader.sandbox.remote_program import RemoteProgram

MAX_CHANGES = 80  # changed versions of one case that are run on the reference
MAX_OTHER_VALUES = 6  # for one input: values from other cases that are tried
Inputs = Mapping[str, Value]
ValueChange = Callable[[Any], Any]

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
    """A change of a case's inputs, such as "n + 1 in place of n"."""

    text: str
    change_inputs: Callable[[Inputs], Inputs]
    # Input that must not be the same number in all cases: for 4, "half of n" and "n - 2" are equal.
    varying_number: str = ""

    def change_case(self, evaluation: Evaluation, case: CaseRecipe) -> CaseRecipe | None:
        """Return the case with changed inputs; None if an input is missing or the change fails."""
        try:
            inputs = self.change_inputs(evaluation.drawn_inputs(case))
            return evaluation.case_with_inputs(case, self.text, inputs)
        except (ValueError, TypeError, LookupError, ArithmeticError, AttributeError):
            return None


@dataclass(frozen=True)
class AlternativeInputs:
    """Finds rules that a wrong result is what an idea gives, or the reference on changed inputs.

    In a report: "is what a known mistake gives", "is what would be right with n + 1 in place of n".
    """

    question_cases: Evaluation
    extra_cases: Evaluation  # has the extra inputs as its cases
    # The suspected ideas, each with its name, its quoted feedback and its program.
    ideas: Sequence[tuple[str, str, RemoteProgram]]

    def matching_rules(self, failing: Sequence[Observation]) -> list[Rule]:
        """Return the rules, on ideas and on changed inputs, that hold on all failing observations.

        The observation with the largest expected result proposes the rules.  An idea is named only
        if no other idea fits as well.
        """
        proposer = max(failing, key=lambda observation: np.size(observation.expected_value))
        observations = [proposer, *failing]
        rules_by_idea = {}
        for name, feedback, program in self.ideas:
            rules = rules_holding_on(self._idea_rules(feedback, program, proposer), observations)
            if rules:
                rules_by_idea[name] = rules
        change_rules = rules_holding_on(self._change_rules(proposer), observations)
        if len(rules_by_idea) != 1:  # several ideas give the same result, so do not name any
            return change_rules
        (idea_rules,) = rules_by_idea.values()
        return idea_rules + change_rules

    def _locate(self, observation: Observation) -> tuple[Evaluation, CaseRecipe]:
        """Return the evaluation that has the case of an observation, and the case."""
        evaluation = self.question_cases if observation.is_own_case else self.extra_cases
        return evaluation, evaluation.cases[observation.case]

    # -- results of ideas --------------------------------------------------------------------------

    def _idea_rules(
        self, feedback: str, program: RemoteProgram, proposer: Observation
    ) -> Iterator[Rule]:
        """Yield rules that a result is the idea's, and that its error is a multiple of the idea's.

        An error is the difference from the expected result.  No rule is yielded if the idea gives
        no result in the proposer's case, or the right one; the second needs several entries.
        """

        def predict(observation: Observation) -> Array | None:
            return _result(program, *self._locate(observation), observation)

        def predict_multiple(factor: float, observation: Observation) -> Array | None:
            result = predict(observation)
            expected = observation.returned_and_expected[1]
            return None if result is None else expected + factor * (result - expected)

        returned, expected = proposer.returned_and_expected
        result = predict(proposer)
        if result is None or result.shape != expected.shape or proposer.is_close(result, expected):
            return
        yield prediction_rule(8, f"is what a known mistake gives ({feedback})", predict)
        if result.size < MIN_CASES:  # one number is always some multiple of another
            return
        factor = ratio_of_arrays(returned - expected, result - expected)
        if factor not in {0.0, 1.0}:
            times = factor_in_words(factor)
            text = f"is off by {times}what a known mistake is off by ({feedback})"
            yield prediction_rule(9, text, partial(predict_multiple, factor))

    # -- expected results for changed inputs -------------------------------------------------------

    def _change_rules(self, proposer: Observation) -> Iterator[Rule]:
        """Yield rules such as "is what would be right with n + 1 in place of n"."""
        changes = list(itertools.islice(self._changes(proposer.input_values), MAX_CHANGES))
        evaluation, case = self._locate(proposer)
        if evaluation.can_be_batched(case):
            cases = [change.change_case(evaluation, case) for change in changes]
            reference = self.question_cases.reference
            evaluation.prefetch([reference], proposer.run, filter(None, cases))
        expected = proposer.returned_and_expected[1]
        # With few integers, many different inputs give the same result.
        is_ambiguous = expected.size < MIN_CASES and bool((expected == np.round(expected)).all())
        for change in changes:
            text = f"is what would be right with {change.text}"
            rule = prediction_rule(10, text, partial(self._expected_after, change))
            yield replace(rule, varying=change.varying_number, is_one_of_many=is_ambiguous)

    def _expected_after(self, change: InputChange, observation: Observation) -> Array | None:
        """Return the expected result for changed inputs; None if the reference gives no result."""
        evaluation, case = self._locate(observation)
        changed_case = change.change_case(evaluation, case)
        if changed_case is None:
            return None
        return _result(self.question_cases.reference, evaluation, changed_case, observation)

    def _changes(self, inputs: Inputs) -> Iterator[InputChange]:
        """Yield changes of one input, such as "n = 3", and exchanges, such as "x and y exchanged".

        The first change of every input comes before the second change of any.
        """
        changes = [list(self._changes_of_input(name, value)) for name, value in inputs.items()]
        exchanges = []
        for (name, value), (other_name, other) in itertools.combinations(inputs.items(), 2):
            same_shape = getattr(value, "shape", 0) == getattr(other, "shape", 0)
            if type(value) is type(other) and same_shape and value is not None:
                text = f"{name} and {other_name} exchanged"
                exchanges.append(InputChange(text, partial(_exchange, name, other_name)))
        for turn in itertools.zip_longest(*changes, exchanges):
            yield from filter(None, turn)

    def _changes_of_input(self, name: str, value: Value) -> Iterator[InputChange]:
        """Yield changes of one input: to other values ("n = 3"), then to functions of it ("-n")."""
        changes: dict[str, ValueChange] = {}
        other_values: list[Value] = []
        if isinstance(value, np.ndarray):
            if value.dtype.kind == "f":
                changes = FLOAT_CHANGES
        elif isinstance(value, bool):
            other_values = [not value]
        elif isinstance(value, float):
            changes = {**NUMBER_CHANGES, **REAL_CHANGES}
            other_values = [0.0, 1.0, *self._literals(name)]
        else:
            changes = NUMBER_CHANGES if isinstance(value, int) else {}
            other_values = self._literals(name)
        for other in list(dict.fromkeys(other_values))[:MAX_OTHER_VALUES]:
            if other != value:
                yield InputChange(f"{name} = {other!r}", partial(_set_input, name, other))
        varying_number = "" if isinstance(value, np.ndarray) else name
        for template, change in changes.items():
            text = f"{template.format(name)} in place of {name}"
            yield InputChange(text, partial(_change_input, name, change), varying_number)

    def _literals(self, name: str) -> list[Value]:
        """Return the values that a scalar input has in the cases of the question."""
        cases = self.question_cases.cases.values()
        recipes = [case.inputs[name] for case in cases if name in case.inputs]
        return [recipe.literal for recipe in recipes if not recipe.is_array]


def _set_input(name: str, value: Value, _inputs: Inputs) -> Inputs:
    return {name: value}


def _change_input(name: str, change: ValueChange, inputs: Inputs) -> Inputs:
    value = change(inputs[name])
    if isinstance(value, np.ndarray):
        value = np.ascontiguousarray(value, dtype=inputs[name].dtype)
    return {name: value}


def _exchange(name: str, other: str, inputs: Inputs) -> Inputs:
    return {name: inputs[other], other: inputs[name]}


def _result(
    program: RemoteProgram, evaluation: Evaluation, case: CaseRecipe, observation: Observation
) -> Array | None:
    """Run a program on a case, and return the numbers of one result; None if it has none.

    `observation` names the result, or an item of it; `case` may have other inputs than observed.
    """
    try:
        value: Any = evaluation.outcome(program, observation.run, case).values
        for key in (observation.result.partition("[")[0], *observation.path):
            value = value[key]
    except (ProgramError, WorkerError, BankProgramError, LookupError, TypeError):
        return None
    return to_float64(value)
