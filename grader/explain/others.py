"""What a wrong result equals: what is right for other inputs, or what a listed idea gives.

Both are rules like any other (`rules.py`): they have to hold on every failing case and on further
inputs, and no right case may refute them.  They are looked for where nothing else was found.
"""

from __future__ import annotations

import contextlib
import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from grader.cases.draw import Array
from grader.cases.recipe import CaseRecipe
from grader.evaluation.evaluation import BankFault, Evaluation
from grader.evaluation.values import Value, largest
from grader.explain.observation import ORDINALS, Observation, numbers
from grader.explain.rules import CASES, Rule, holding, predicted, propose
from grader.model.numerals import number
from grader.sandbox.client import WorkerError
from grader.sandbox.messages import ProgramError
from grader.sandbox.remote import RemoteProgram

MOST_CHANGES = 120  # changed inputs of one case that the reference is run on
MOST_VALUES = 6  # of an input in other cases
Of = Callable[[Any], Any]

OF_NUMBERS: dict[str, Of] = {
    "-{}": lambda v: -v,
    "twice {}": lambda v: 2 * v,
    "half of {}": lambda v: v // 2 if isinstance(v, int) else v / 2,
    "{} + 1": lambda v: v + 1,
    "{} - 1": lambda v: v - 1,
    "the square of {}": lambda v: v**2,
    "the root of {}": lambda v: math.sqrt(v) if isinstance(v, float) else math.isqrt(v),
    "1 - {}": lambda v: 1 - v,
    "1/{}": lambda v: 1 / v,
}
OF_FLOATS: dict[str, Of] = {
    "-{}": np.negative,
    "zeros": np.zeros_like,
    "twice {}": lambda v: 2 * v,
    "half of {}": lambda v: v / 2,
    "{} + 1": lambda v: v + 1,
    "the absolute value of {}": np.abs,
    "the square of {}": np.square,
    "{} cut off at 1 and -1": lambda v: np.clip(v, -1, 1),
    "{} rounded to float32": lambda v: v.astype(np.float32),
}
OF_BOOLS: dict[str, Of] = {
    "{} inverted": np.logical_not,
    "True throughout": np.ones_like,
    "False throughout": np.zeros_like,
}
ALONG: dict[str, Callable[[Array, int], Array]] = {
    "{} in reverse order along its {} axis": np.flip,
    "{} moved up by one along its {} axis": lambda v, axis: np.roll(v, 1, axis),
    "{} moved down by one along its {} axis": lambda v, axis: np.roll(v, -1, axis),
    "the first of {} along its {} axis for all": lambda v, axis: _for_all(v, 0, axis),
    "the last of {} along its {} axis for all": lambda v, axis: _for_all(v, -1, axis),
}


def _for_all(array: Array, index: int, axis: int) -> Array:
    return np.broadcast_to(np.take(array, [index], axis), array.shape)


@dataclass(frozen=True)
class Change:
    """Other inputs, made from those of a case."""

    text: str
    of: Callable[[Mapping[str, Value]], Mapping[str, Value]]
    number: str = ""  # an input that has to vary: of 4 a half and the root are the same


@dataclass(frozen=True)
class Others:
    """The programs and inputs that a submission's results are held against."""

    own: Evaluation
    further: Evaluation
    ideas: Sequence[tuple[str, RemoteProgram]]  # that may still be behind it

    def rules(self, failing: Sequence[Observation]) -> list[Rule]:
        """The rules that hold on all of some observations, the most telling of which proposes."""
        first = max(failing, key=lambda seen: 0 if seen.expected is None else seen.expected.size)
        if first.got is None or first.expected is None or first.got.shape != first.expected.shape:
            return []
        of_ideas = {}
        for name, program in self.ideas:
            rules = {rule.text: rule for rule in self._of_idea(name, program, first)}
            if found := holding(holding(rules.values(), [first]), failing):
                of_ideas[name] = found
        # What several ideas give names none of them.
        named = next(iter(of_ideas.values())) if len(of_ideas) == 1 else []
        return [*named, *holding(holding(self._of_changes(first), [first]), failing)]

    # -- ideas ------------------------------------------------------------------------------------

    def _of_idea(self, name: str, program: RemoteProgram, first: Observation) -> Iterator[Rule]:
        given = partial(self._given, program)
        made = given(first)
        if made is None or made.shape != first.both[1].shape or first.close(made, first.both[1]):
            return
        yield predicted(8, f"is what {name} gives", given)
        if made.size < CASES:  # one number is some multiple of another, whatever the idea
            return
        yield from self._towards(name, given, first, made)
        for rule in propose([replace(first, right=made)], places=False):
            if not rule.local or rule.anywhere:
                yield _beside(name, given, rule)

    def _given(self, program: RemoteProgram, seen: Observation) -> Array | None:
        """What a program gives for the result on the same inputs, as numbers."""
        evaluation = self.own if seen.own else self.further
        return self._result(program, evaluation, evaluation.cases[seen.case], seen)

    def _towards(
        self, name: str, given: Callable[[Observation], Array | None], first: Observation, v: Array
    ) -> Iterator[Rule]:
        """Off by a multiple of what an idea is off by."""
        a, b = first.both
        k = _ratio(a - b, v - b)
        if k and abs(k - 1) > 1e-6 and first.close(a, b + k * (v - b)):

            def predict(seen: Observation) -> Array | None:
                other = given(seen)
                return None if other is None else seen.both[1] + k * (other - seen.both[1])

            text = f"is off by {number(k)} times what {name} is off by"
            yield predicted(9, text, predict)

        def each(seen: Observation) -> Array | None:
            other, (a, b) = given(seen), seen.both
            if other is None or b.size < CASES:
                return None
            return b + _ratio(a - b, other - b) * (other - b)

        text = f"is off by a multiple of what {name} is off by, another one in each case"
        yield predicted(9, text, each)

    # -- other inputs -----------------------------------------------------------------------------

    def _of_changes(self, first: Observation) -> Iterator[Rule]:
        changes = list(itertools.islice(self._changes(first.given), MOST_CHANGES))
        evaluation = self.own if first.own else self.further
        case = evaluation.cases[first.case]
        if evaluation.is_plain(case):
            cases = [self._changed(evaluation, case, change) for change in changes]
            with contextlib.suppress(WorkerError, BankFault):
                evaluation.values([self.own.reference], first.run, [c for c in cases if c])
        for change in changes:
            text = f"is what would be right with {change.text}"
            rule = predicted(10, text, partial(self._right_for, change))
            varies = partial(_given, change.number) if change.number else None
            yield replace(rule, varies=varies, strict=_is_short_of_numbers(first))

    def _right_for(self, change: Change, seen: Observation) -> Array | None:
        evaluation = self.own if seen.own else self.further
        case = self._changed(evaluation, evaluation.cases[seen.case], change)
        return case and self._result(self.own.reference, evaluation, case, seen)  # type: ignore[return-value]

    def _changed(
        self, evaluation: Evaluation, case: CaseRecipe, change: Change
    ) -> CaseRecipe | None:
        """A case with other inputs; None where they cannot be made."""
        drawn = evaluation.drawn(case)
        try:
            return evaluation.changed(case, change.text, change.of(drawn))
        except (ValueError, TypeError, LookupError, ArithmeticError, AttributeError):
            return None

    def _changes(self, given: Mapping[str, Value]) -> Iterator[Change]:
        """What else the inputs could be: numbers first, which are few and say more."""
        for name, value in sorted(given.items(), key=lambda one: isinstance(one[1], np.ndarray)):
            if isinstance(value, np.ndarray):
                yield from _of_array(name, value)
                continue
            is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
            others: list[Value] = [not value] if isinstance(value, bool) else self._known(name)
            others += [0.0, 1.0] if isinstance(value, float) else []
            for other in dict.fromkeys(others):
                if other != value:
                    yield Change(f"{name} = {other!r}", partial(_constant, name, other))
            for text, of in OF_NUMBERS.items() if is_number else ():
                yield Change(_in_place(text, name), partial(_applied, name, of), name)
        for (one, v), (two, w) in itertools.combinations(given.items(), 2):
            alike = type(v) is type(w) and getattr(v, "shape", 0) == getattr(w, "shape", 0)
            if alike and v is not None:
                yield Change(f"{one} and {two} exchanged", partial(_exchanged, one, two))

    def _known(self, name: str) -> list[Value]:
        """What an input is in the cases of the question, where it is no array."""
        recipes = [c.inputs[name] for c in self.own.cases.values() if name in c.inputs]
        return list(dict.fromkeys(r.literal for r in recipes if not r.is_array))[:MOST_VALUES]

    def _result(
        self, program: RemoteProgram, evaluation: Evaluation, case: CaseRecipe, seen: Observation
    ) -> Array | None:
        """A result of a program, as numbers; None where it gives none."""
        try:
            value: Any = evaluation.outcome(program, seen.run, case).values
            for key in (seen.result.partition("[")[0], *seen.path):
                value = value[key]
        except (ProgramError, WorkerError, BankFault, LookupError, TypeError):
            return None
        return numbers(value)


def _of_array(name: str, value: Array) -> Iterator[Change]:
    for text, of in {"f": OF_FLOATS, "b": OF_BOOLS}.get(value.dtype.kind, {}).items():
        yield Change(_in_place(text, name), partial(_applied, name, of))
    for axis, nth in enumerate(ORDINALS[: value.ndim]):
        for text, along in ALONG.items() if value.shape[axis] > 1 else ():
            words = text.format(name, nth) if value.ndim > 1 else text[: text.index(" along")]
            of = partial(_along, along, axis)
            yield Change(_in_place(words, name), partial(_applied, name, of))
    if value.ndim > 1 and value.shape[-1] == value.shape[-2]:
        square = {"{} with its last two axes exchanged": _transposed}
        square |= {"the unit matrix": _unit} if value.dtype.kind == "f" else {}
        for text, of in square.items():
            yield Change(_in_place(text, name), partial(_applied, name, of))


def _in_place(text: str, name: str) -> str:
    return f"{text.format(name)} in place of {name}"


def _is_short_of_numbers(seen: Observation) -> bool:
    """Whether a result is one whole number, or two: many other inputs give the same."""
    right = seen.both[1]
    return right.size < CASES and bool((right == np.round(right)).all())


def _given(name: str, seen: Observation) -> float:
    return float(seen.given[name])


def _along(of: Callable[[Array, int], Array], axis: int, value: Array) -> Array:
    return of(value, axis)


def _unit(value: Array) -> Array:
    return np.broadcast_to(np.eye(value.shape[-1]), value.shape)


def _transposed(value: Array) -> Array:
    return value.swapaxes(-1, -2)


def _constant(name: str, value: Value, _given: Mapping[str, Value]) -> dict[str, Value]:
    return {name: value}


def _applied(name: str, of: Of, given: Mapping[str, Value]) -> dict[str, Value]:
    made = of(given[name])
    if isinstance(made, np.ndarray):
        made = np.ascontiguousarray(made, dtype=given[name].dtype)
    return {name: made}


def _exchanged(one: str, two: str, given: Mapping[str, Value]) -> dict[str, Value]:
    return {one: given[two], two: given[one]}


def _ratio(one: Array, other: Array) -> float:
    """How many times the other the one is, where the other is largest; 0 where nobody knows."""
    if one.shape != other.shape or not largest(other):
        return 0.0
    at = np.unravel_index(int(np.argmax(np.abs(np.nan_to_num(other)))), other.shape)
    k = float(one[at] / other[at])
    return float(f"{k:.9g}") if math.isfinite(k) else 0.0


def _beside(name: str, given: Callable[[Observation], Array | None], rule: Rule) -> Rule:
    """A rule of what an idea gives, where it is another thing than the right one."""

    def theirs(seen: Observation) -> tuple[Observation, bool]:
        made = given(seen)
        if made is None:
            raise ValueError("it gives nothing")
        return replace(seen, right=made), not seen.close(seen.both[1], made)

    def clashes(seen: Observation) -> bool:
        other, acts = theirs(seen)
        if acts:
            return not rule.holds(other)
        return rule.clashes is not None and rule.clashes(seen)

    what = f"what {name} gives"
    text = rule.text.replace("the right one", what)
    if text == rule.text:
        text = f"is {what}, and beside that {rule.text}"
    return Rule(11, text, lambda seen: rule.holds(theirs(seen)[0]), clashes)
