"""Propose rules: statements about a wrong result that hold on every failing observation.

A failing observation proposes rules.  A rule is dropped unless it holds for all the others too.
A right observation can refute a rule: "is half the right one" is false if a right result differs
from its own half.  Then the rule is stated of some cases only, or dropped.  A rule about
numbers needs at least three cases and three different numbers, because one number alone is always
some multiple of another.
"""

from __future__ import annotations

import contextlib
import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from grader.cases.draw import Array
from grader.explain.observation import ORDINALS, Observation
from grader.grading.values import largest_magnitude, to_array
from grader.model.number_format import format_number

MIN_CASES = 3  # failing observations that a rule about numbers needs
MIN_NUMBERS = 3  # different expected numbers that it needs
MAX_PROPOSERS = 2  # failing observations that propose rules
MAX_COUNTED_NUMBERS = 12  # an observation with more different numbers is as good a proposer
MAX_COUNTED_ENTRIES = 200  # entries of one array that are read to count different numbers
PLACE_RANK = 53  # rules from this rank on only say where a result is wrong
WEAK_RANK = 50  # rules from this rank on say little
# Errors that numpy raises on values that a submission may return.
UNUSABLE_VALUE_ERRORS = (ValueError, TypeError, LookupError, ArithmeticError)
ObservationTest = Callable[[Observation], bool]
PredictArray = Callable[[Observation], Array | None]


@dataclass(frozen=True)
class Rule:
    """A possible statement about one result, and tests that show if it is true of observations."""

    rank: int  # rules with a lower rank say more
    text: str  # what follows the name of the result
    holds: ObservationTest
    # Returns True if the statement would make a right result wrong; None if it cannot.
    contradicts_right_result: ObservationTest | None = None
    numeric: bool = True  # it may hold by chance if there are few numbers
    varying: str = ""  # an input or a named size that must differ between the cases
    is_about_wrong_entries: bool = False  # then it says nothing about right cases
    # If True, the statement never says "where x is empty": rounding has other causes, and a wrong
    # type is a fault everywhere.
    holds_on_any_cases: bool = False
    holds_mostly: ObservationTest | None = None  # must hold on half of the failing observations
    is_one_of_many: bool = False  # many rules were tried on few integers: one may hold by chance
    min_failing_cases: int = 1  # needed among the question's cases, without extra inputs


def propose_rules(failing: Sequence[Observation]) -> list[Rule]:
    """Return the rules that the two most telling observations propose, if they hold on all."""
    rules: dict[str, Rule] = {}
    for proposer in sorted(failing, key=_informativeness, reverse=True)[:MAX_PROPOSERS]:
        for family in (prediction_rules, entry_rules, place_rules, digit_rules, type_rules):
            with contextlib.suppress(*UNUSABLE_VALUE_ERRORS), np.errstate(all="ignore"):
                rules |= {rule.text: rule for rule in family(proposer)}
    return rules_holding_on(rules.values(), failing)


def rules_holding_on(rules: Iterable[Rule], failing: Sequence[Observation]) -> list[Rule]:
    """Return the rules that hold on every one of the observations."""
    holding = []
    for rule in rules:
        if all(_passes(rule.holds, observation) for observation in failing):
            holding.append(rule)
    return holding


def confirmed_rules(rules: Iterable[Rule], failing: Sequence[Observation]) -> list[Rule]:
    """Return the rules with enough evidence, the most telling first."""
    has_numbers = _count_numbers(failing) >= MIN_NUMBERS
    forms = {observation.input_form for observation in failing}
    has_evidence = has_numbers and len(failing) >= MIN_CASES and len(forms) > 1
    # Chance makes no pattern in several wrong entries of every case.
    has_patterns = has_numbers and all(_passes(_has_several_wrong_entries, o) for o in failing)
    confirmed = []
    for rule in rules:
        is_pattern = rule.is_about_wrong_entries and has_patterns
        if rule.numeric and not has_evidence and not is_pattern:
            continue
        if rule.is_one_of_many and not is_beyond_chance(failing):
            continue
        if rule.varying:
            numbers = {(o.input_values | o.named_sizes)[rule.varying] for o in failing}
            if len(numbers) < 2:
                continue
        if rule.holds_mostly is not None:
            count = sum(_passes(rule.holds_mostly, o) for o in failing)
            if 2 * count < len(failing):
                continue
        confirmed.append(rule)
    return sorted(confirmed, key=lambda rule: (rule.rank, len(rule.text), rule.text))


def is_refuted(rule: Rule, right: Iterable[Observation]) -> bool:
    """Return True if a right observation refutes a rule.

    Any right result that is not 0 refutes the rule "is half the right one".
    """
    contradicts = rule.contradicts_right_result
    return contradicts is not None and any(_passes(contradicts, o) for o in right)


def is_beyond_chance(failing: Sequence[Observation]) -> bool:
    """Return True if there are enough cases and numbers to exclude a coincidence."""
    return len(failing) >= 2 * MIN_CASES and _count_numbers(failing) >= 2 * MIN_NUMBERS


def _passes(test: ObservationTest, observation: Observation) -> bool:
    """Return the answer of a test; False if it raises because of an unusable returned value."""
    try:
        with np.errstate(all="ignore"):
            return bool(test(observation))
    except UNUSABLE_VALUE_ERRORS:
        return False


def _has_several_wrong_entries(observation: Observation) -> bool:
    return bool(observation.wrong_entries.sum() > 1)


def _informativeness(observation: Observation) -> tuple[int, int]:
    """Return a sort key, larger for more different numbers, then for a smaller array."""
    expected = observation.expected_array
    numbers = _count_numbers([observation])
    return min(MAX_COUNTED_NUMBERS, numbers), 0 if expected is None else -expected.size


def _count_numbers(observations: Sequence[Observation]) -> int:
    """Return how many different nonzero numbers are expected, among the first of each array."""
    numbers: set[float] = set()
    for observation in observations:
        if observation.expected_array is not None:
            entries = observation.expected_array.ravel()[:MAX_COUNTED_ENTRIES]
            numbers.update(entries[np.isfinite(entries) & (entries != 0)].tolist())
    return len(numbers)


# -- the whole result equals a prediction ---------------------------------------------------------

FACTOR_WORDS = {2.0: "twice", 0.5: "half", 3.0: "three times", 1 / 3: "a third", 4.0: "four times",
         0.25: "a quarter"}  # fmt: skip
ENTRYWISE_CHANGES: dict[str, tuple[int, Callable[[Array], Array]]] = {
    "is the absolute value of the right one": (15, np.abs),
    "is the right one with 0 for all that is negative": (15, lambda b: np.maximum(b, 0.0)),
    "is the square of the right one": (15, np.square),
    "is the exponential of the right one": (15, np.exp),
    "is rounded down": (41, np.floor),
    "is rounded up": (41, np.ceil),
}
AXIS_REDUCTIONS: dict[str, Callable[..., Array]] = {
    "the sum of": lambda b, axis: np.sum(b, axis, keepdims=True),
    "the first of": lambda b, axis: np.take(b, [0], axis),
    "the last of": lambda b, axis: np.take(b, [-1], axis),
}
MIN_SIZE_RANK = 22  # rank of the first factor below; each next factor has the next rank
SIZE_FACTORS: dict[str, Callable[[float], float]] = {
    "1/N of": lambda n: 1 / n,
    "N times": lambda n: n,
    "N/(N - 1) of": lambda n: n / (n - 1),
    "(N - 1)/N of": lambda n: (n - 1) / n,
    "N/(N + 1) of": lambda n: n / (n + 1),
    "1/√N of": lambda n: 1 / math.sqrt(n),
}


def prediction_rules(proposer: Observation) -> Iterator[Rule]:
    """Yield rules on the whole result: "is the input x", "is half the right one", and so on."""
    returned, expected = proposer.returned_and_expected
    zero_text = "is 0 throughout" if expected.ndim else "is 0"
    yield prediction_rule(1, zero_text, partial(_change_expected, np.zeros_like))
    for phrase in proposer.other_arrays:
        if returned.ndim or phrase not in proposer.input_arrays:
            rank = 11 if proposer.path else 2
            yield prediction_rule(rank, f"is {phrase}", partial(_other_array, phrase, 1))
            yield prediction_rule(3, f"is minus {phrase}", partial(_other_array, phrase, -1))
    for text, (rank, change) in ENTRYWISE_CHANGES.items():
        yield prediction_rule(rank, text, partial(_change_expected, change))
    for axis, other_axis in itertools.combinations(range(expected.ndim), 2):
        swap = partial(np.swapaxes, axis1=axis, axis2=other_axis)
        text = f"has axes {axis} and {other_axis} exchanged"
        yield prediction_rule(5, text, partial(_change_expected, swap))
    for axis, ordinal in enumerate(ORDINALS[: expected.ndim]):
        for words, reduce in AXIS_REDUCTIONS.items():
            text = f"repeats {words} the right one along its {ordinal} axis"
            yield prediction_rule(6, text, partial(_repeat, reduce, axis))
    yield from _size_rules(proposer)
    if returned.shape == expected.shape and expected.size:
        yield from _multiple_rules(proposer)
        yield from _sum_rules(proposer)


def prediction_rule(rank: int, text: str, predict: PredictArray) -> Rule:
    """Return the rule that the whole result equals `predict(observation)`, and this is wrong."""

    def holds(observation: Observation) -> bool:
        returned, expected = observation.returned_and_expected
        prediction = predict(observation)
        if prediction is None or not observation.is_close(returned, prediction):
            return False
        # A prediction that equals the right result explains nothing.
        is_right = observation.is_close(expected, prediction)
        return bool(np.isfinite(prediction).any()) and not is_right

    def contradicts(observation: Observation) -> bool:
        _, expected = observation.returned_and_expected
        prediction = predict(observation)
        return prediction is not None and not observation.is_close(expected, prediction)

    return Rule(rank, text, holds, contradicts)


def _other_array(phrase: str, sign: int, observation: Observation) -> Array | None:
    """Return the array of a phrase, such as "the input x", times a sign of 1 or -1.

    Return None if it is 0 throughout, or has another shape than the returned result.
    """
    array = observation.other_arrays[phrase]
    is_possible = array.shape == observation.returned_and_expected[0].shape and array.any()
    return sign * array if is_possible else None


def _change_expected(change: Callable[[Array], Array], observation: Observation) -> Array:
    return change(observation.returned_and_expected[1])


def _repeat(reduce: Callable[..., Array], axis: int, observation: Observation) -> Array | None:
    """Return an array of the expected shape that repeats, for example, the sum along an axis.

    Return None for an array with fewer than two axes.
    """
    expected = observation.returned_and_expected[1]
    if expected.ndim < 2:
        return None
    return np.broadcast_to(reduce(expected, axis), expected.shape)


def _size_rules(proposer: Observation) -> Iterator[Rule]:
    """Yield rules such as "is 1/N of the right one, with N the length of x"."""
    for rank, (words, factor) in enumerate(SIZE_FACTORS.items(), MIN_SIZE_RANK):
        for phrase, size in proposer.named_sizes.items():
            if size == 1:  # then it is the right one
                continue
            for sign, minus in ((1, ""), (-1, "minus ")):
                text = f"is {minus}{words} the right one, with N {phrase}"
                rule = prediction_rule(rank, text, partial(_size_multiple, phrase, factor, sign))
                yield replace(rule, varying=phrase)


def _size_multiple(
    phrase: str, factor: Callable[[float], float], sign: int, observation: Observation
) -> Array:
    expected = observation.returned_and_expected[1]
    return sign * factor(observation.named_sizes[phrase]) * expected


def _multiple_rules(proposer: Observation) -> Iterator[Rule]:
    """Yield a rule such as "is half the right one", if some factor fits the proposer."""
    returned, expected = proposer.returned_and_expected
    if not largest_magnitude(expected):
        return
    factor = _ratio_at_largest(returned, expected)
    tolerance = 10 * proposer.relative_rounding
    if not factor or not math.isfinite(factor) or abs(factor - 1) <= tolerance:
        return
    if not proposer.is_close(returned, factor * expected):
        return
    for exact in (-1.0, *FACTOR_WORDS, *(-number for number in FACTOR_WORDS)):
        if abs(factor - exact) < tolerance * abs(exact):
            factor = exact
    text = f"is {factor_in_words(factor)}the right one"
    yield prediction_rule(20, text, lambda o: factor * o.returned_and_expected[1])


def factor_in_words(factor: float) -> str:
    """Return a factor to put before a noun: "half ", "minus twice ", "0.3000 times "."""
    minus = "minus " if factor < 0 else ""
    if abs(factor) == 1:
        return minus
    if abs(factor) in FACTOR_WORDS:
        return f"{minus}{FACTOR_WORDS[abs(factor)]} "
    return f"{_format_factor(factor)} times "


def _format_factor(factor: float) -> str:
    """Return a factor in digits; near 1 all of them, because "1.000 times" says nothing."""
    return f"{factor:.9g}" if abs(factor - 1) < 1e-3 else format_number(factor)


def _sum_rules(proposer: Observation) -> Iterator[Rule]:
    """Yield rules such as "is the right one plus 0.5", or "... plus twice the input x"."""
    returned, expected = proposer.returned_and_expected
    if not _are_finite(returned, expected):
        return
    phrases = [""]  # stands for a constant summand
    if expected.size >= 3:
        others = proposer.other_arrays.items()
        phrases += [phrase for phrase, array in others if array.shape == expected.shape]
    for phrase in phrases:
        predict = partial(_add, phrase)
        summand = predict(1.0, proposer) - expected
        factor = ratio_of_arrays(returned - expected, summand)
        if not factor or not proposer.is_close(returned, predict(factor, proposer)):
            continue
        if proposer.is_close(summand, expected):
            continue  # then it is a multiple of the right result
        amount = format_number(abs(factor))
        if phrase:
            amount = factor_in_words(abs(factor)) + phrase
        text = f"is the right one {'plus' if factor > 0 else 'minus'} {amount}"
        yield prediction_rule(12 if phrase else 21, text, partial(predict, factor))


def _add(phrase: str, factor: float, observation: Observation) -> Array:
    """Return the right result plus `factor` times the array of a phrase; for "", plus `factor`."""
    expected = observation.returned_and_expected[1]
    if not phrase:
        return expected + factor * np.ones_like(expected)
    return expected + factor * observation.other_arrays[phrase]


def _are_finite(*arrays: Array) -> bool:
    return all(np.isfinite(array).all() for array in arrays)


def ratio_of_arrays(array: Array, other: Array) -> float:
    """Return the ratio of two arrays at the largest entry of the second; 0 if it is undefined."""
    if array.shape != other.shape or not largest_magnitude(other):
        return 0.0
    ratio = _ratio_at_largest(array, other)
    return float(f"{ratio:.6g}") if math.isfinite(ratio) else 0.0


def _ratio_at_largest(array: Array, other: Array) -> float:
    """Return the ratio of two arrays at the largest finite entry of the second (not 0)."""
    magnitudes = np.where(np.isfinite(other), np.abs(other), 0.0)
    index = np.unravel_index(int(np.argmax(magnitudes)), other.shape)
    return float(array[index] / other[index])


# -- the wrong entries have something in common ---------------------------------------------------

EntryTest = Callable[[Array, Array], object]  # takes returned and expected wrong entries
# Maps a text to its rank, whether it may be true by chance for few numbers, and its test.
ENTRY_TESTS: dict[str, tuple[int, bool, EntryTest]] = {
    "is NaN in every entry that is wrong": (50, False, lambda x, _: np.isnan(x).all()),
    "is infinite in every entry that is wrong": (50, False, lambda x, _: np.isinf(x).all()),
    "is 0 in every entry that is wrong": (51, True, lambda x, _: not x.any()),
    "is wrong only where minus infinity is expected": (52, True, lambda _, y: np.isneginf(y).all()),
    "is the same in every entry that is wrong": (54, True, lambda x, _: _is_one_number(x)),
}


def _is_one_number(entries: Array) -> bool:
    """Return True for at least three entries with the same finite number, which is not 0."""
    if entries.size < 3 or not np.isfinite(entries).all():
        return False
    return bool(np.ptp(entries) == 0 and entries[0])


def entry_rules(proposer: Observation) -> Iterator[Rule]:
    """Yield rules such as "is 0 in every entry that is wrong", or on sums that are right."""
    returned, expected = proposer.returned_and_expected
    if returned.shape != expected.shape or not expected.size:
        return
    if expected.ndim == 0:
        for text in ("is NaN", "is infinite"):
            *_, test = ENTRY_TESTS[f"{text} in every entry that is wrong"]
            yield Rule(4, text, partial(_wrong_entries_pass, test), numeric=False)
        return
    for text, (rank, numeric, test) in ENTRY_TESTS.items():
        holds = partial(_wrong_entries_pass, test)
        yield Rule(rank, text, holds, numeric=numeric, is_about_wrong_entries=True)
    yield from _entry_multiple_rules(proposer)
    yield _sum_rule("over all", tuple(range(expected.ndim)))
    if expected.ndim > 2:
        yield _sum_rule("over each plane", (-2, -1))
    if expected.ndim > 1:
        yield _sum_rule("along the last axis", (-1,))


def _sum_rule(words: str, axes: tuple[int, ...]) -> Rule:
    text = f"has wrong entries, and the right sum {words}"
    holds = partial(_has_right_sum, axes)
    return Rule(55 + len(axes), text, holds, is_about_wrong_entries=True)


def _entry_multiple_rules(proposer: Observation) -> Iterator[Rule]:
    """Yield a rule such as "is -1 times the right one in every entry that is wrong"."""
    returned, expected = proposer.returned_and_expected
    wrong = proposer.wrong_entries
    if not wrong.any() or wrong.all():
        return
    returned_number = returned[wrong][0]
    expected_number = expected[wrong][0]
    if not expected_number:
        return
    factor = float(returned_number / expected_number)
    if not factor or not math.isfinite(factor) or abs(factor - 1) <= 1e-6:
        return

    def are_multiples(returned: Array, expected: Array) -> bool:
        return proposer.is_close(returned, factor * expected)

    words = "-1" if abs(factor + 1) < 1e-9 else _format_factor(factor)
    text = f"is {words} times the right one in every entry that is wrong"
    holds = partial(_wrong_entries_pass, are_multiples)
    yield Rule(45, text, holds, is_about_wrong_entries=True)


def _wrong_entries_pass(test: EntryTest, observation: Observation) -> bool:
    returned, expected = observation.returned_and_expected
    wrong = observation.wrong_entries
    return bool(wrong.any() and test(returned[wrong], expected[wrong]))


def _has_right_sum(axes: tuple[int, ...], observation: Observation) -> bool:
    """Return True if entries are wrong but their sums over some axes are right."""
    returned, expected = observation.returned_and_expected
    if not _are_finite(returned, expected) or observation.is_close(returned, expected):
        return False
    if all(expected.shape[axis] < 2 for axis in axes):
        return False
    max_deviation = np.abs(returned - expected).max()
    sums = expected.sum(axes)
    # All centered results add up to 0, and all normalized ones to 1.
    if largest_magnitude(sums) <= 1e-3 * max_deviation or np.allclose(expected.sum(-1), 1.0):
        return False
    # Equal sums say nothing if the entries are nearly equal.
    scale = max(largest_magnitude(expected), largest_magnitude(returned))
    tolerance = min(10 * observation.relative_rounding * scale, 1e-3 * max_deviation)
    largest_difference = np.abs(returned.sum(axes) - sums).max(initial=0.0)
    return bool(largest_difference <= tolerance)


# -- the wrong entries are in one place -----------------------------------------------------------


def place_rules(proposer: Observation) -> Iterator[Rule]:
    """Yield rules that a result is wrong only in one place, such as its first row.

    In the proposer exactly the entries in that place are wrong.  In other observations no entry
    outside of it may be wrong.
    """
    for place, mask in _places(proposer).items():
        if np.array_equal(mask, proposer.wrong_entries):
            yield Rule(
                rank=PLACE_RANK,
                text=f"is wrong only {place}",
                holds=partial(_is_wrong_only, place),
                is_about_wrong_entries=True,
                holds_mostly=partial(_is_wrong_throughout, place),
            )


def _is_wrong_throughout(place: str, observation: Observation) -> bool:
    return bool(np.array_equal(_places(observation)[place], observation.wrong_entries))


def _is_wrong_only(place: str, observation: Observation) -> bool:
    mask = _places(observation)[place]
    wrong = observation.wrong_entries
    if mask.all() or not wrong.any():
        return False
    return not wrong[~mask].any()


def _places(observation: Observation) -> dict[str, Array]:
    """Return masks by place, as "at the first entry" or "where the input x is positive"."""
    expected = observation.returned_and_expected[1]
    places = _index_places(expected.shape)
    for phrase, array in {"the right one": expected, **observation.input_arrays}.items():
        if array.shape == expected.shape:
            places[f"where {phrase} is positive"] = array > 0
    for name, value in observation.input_values.items():
        if value is not None:
            places |= _mask_places(name, np.asarray(to_array(value)), expected.shape)
    return places


def _index_places(shape: tuple[int, ...]) -> dict[str, Array]:
    """Return masks for each axis: its first index, all after it, its last index, all before it."""
    places = {}
    for axis, ordinal in enumerate(ORDINALS[: len(shape)]):
        last = shape[axis] - 1
        sides = [1] * len(shape)
        sides[axis] = -1
        index = np.arange(shape[axis]).reshape(sides)
        noun = "entry"
        if len(shape) > 1:
            noun = f"index of its {ordinal} axis"
        places[f"at the first {noun}"] = index == 0
        places[f"after the first {noun}"] = index > 0
        places[f"at the last {noun}"] = index == last
        places[f"before the last {noun}"] = index < last
    return {place: np.broadcast_to(mask, shape) for place, mask in places.items()}


def _mask_places(name: str, array: Array, shape: tuple[int, ...]) -> dict[str, Array]:
    """Return masks of the entries for which an input of booleans is True, or False.

    There are none unless the input has the shape of the result, or of its first axes.
    """
    if array.dtype.kind != "b" or not array.ndim or array.shape != shape[: array.ndim]:
        return {}
    more_axes = (1,) * (len(shape) - array.ndim)
    wide = array.reshape(array.shape + more_axes)
    return {
        f"where {name} is True": np.broadcast_to(wide, shape),
        f"where {name} is False": np.broadcast_to(~wide, shape),
    }


# -- digits, types and shapes ---------------------------------------------------------------------


def digit_rules(proposer: Observation) -> Iterator[Rule]:
    """Yield rules that a result is right to some digits, rounded, or holds only float32 numbers."""
    returned, expected = proposer.returned_and_expected
    if returned.shape != expected.shape or isinstance(proposer.returned, (list, tuple)):
        return
    if proposer.dtype == "float64" and to_array(proposer.returned).dtype == np.float64:
        text = "holds float32 numbers only" if returned.ndim else "is a float32 number"
        convert = partial(np.asarray, dtype=np.float32)
        rule = _few_digits_rule(40, text, convert, relative=1e-3)
        yield replace(rule, holds_on_any_cases=True)
    for decimals in range(13):
        text = f"is rounded to {decimals} decimals" if decimals else "is rounded to a whole number"
        yield _few_digits_rule(
            42,
            text,
            partial(_round, decimals),
            absolute=0.5001 * 10.0**-decimals,
        )
    if proposer.dtype != "float64" or isinstance(proposer.expected_value, (int, np.integer)):
        return
    for digits in (9, 6):
        bound = f"is right to {digits} digits"
        if expected.ndim:  # small entries may be right to fewer digits
            bound = f"is off by less than 1e-{digits} of its largest entry"
        yield Rule(
            rank=60 - digits,
            text=f"{bound} in every case that was tried",
            holds=partial(_is_nearly_right, digits),
            holds_on_any_cases=True,
            is_about_wrong_entries=True,
            min_failing_cases=MIN_CASES,
        )


def _round(decimals: int, array: Array) -> Array:
    return np.round(array, decimals)


def _few_digits_rule(
    rank: int,
    text: str,
    convert: Callable[[Array], Array],
    *,
    relative: float = 0.0,
    absolute: float = 0.0,
) -> Rule:
    """Return a rule that a result has few digits and is close to the right one, which has more.

    Args:
        rank: A lower rank says more.
        text: The words after the name of the result.
        convert: Drops digits, as by rounding.
        relative: Largest difference, as a share of the largest expected entry.
        absolute: Added to that difference.
    """

    def holds(observation: Observation) -> bool:
        returned, expected = observation.returned_and_expected
        if returned.shape != expected.shape or not np.isfinite(expected).all():
            return False
        if not returned.any():
            return False
        tolerance = relative * largest_magnitude(expected) + absolute
        if not np.abs(returned - expected).max(initial=0.0) <= tolerance:
            return False
        has_few_digits = np.array_equal(returned, convert(returned))
        return has_few_digits and not np.array_equal(expected, convert(expected))

    def contradicts(observation: Observation) -> bool:
        returned = observation.returned_array
        return returned is not None and not np.array_equal(returned, convert(returned))

    return Rule(rank, text, holds, contradicts)


def is_right_to_digits(observation: Observation, digits: int) -> bool:
    """Return True if every entry is off by less than 10**-digits of the largest one.

    A nonzero entry has no right digits if 0 is expected.
    """
    returned = observation.returned_array
    expected = observation.expected_array
    if returned is None or expected is None or returned.shape != expected.shape:
        return False
    if not np.isfinite(expected).all():
        return False
    if returned[expected == 0].any():
        return False
    max_deviation = 10.0**-digits * largest_magnitude(expected)
    return bool(np.abs(returned - expected).max(initial=0.0) < max_deviation)


def _is_nearly_right(digits: int, observation: Observation) -> bool:
    if not is_right_to_digits(observation, digits):
        return False
    # If all numbers are equal, only the type is wrong.
    return not np.array_equal(*observation.returned_and_expected)


def type_rules(proposer: Observation) -> Iterator[Rule]:
    """Yield rules that a result is the other truth value, a number for None, or reshaped."""
    returned = proposer.returned
    expected = proposer.expected_value
    if isinstance(expected, (bool, np.bool_)) and isinstance(returned, (bool, np.bool_)):
        text = f"is {not expected} where it should be {bool(expected)}"
        holds = partial(_is_returned, str(returned))
        yield Rule(5, text, holds, numeric=False, holds_on_any_cases=True)
    elif _is_number_for_none(proposer):
        text = "is a number where None is expected"
        yield Rule(5, text, _is_number_for_none, numeric=False, holds_on_any_cases=True)
    elif _is_reshaped(proposer):
        yield Rule(7, "has the right numbers in the right order, in another shape", _is_reshaped)


def _is_returned(text: str, observation: Observation) -> bool:
    return str(observation.returned) == text


def _is_number_for_none(observation: Observation) -> bool:
    return observation.expected_value is None and observation.returned_array is not None


def _is_reshaped(observation: Observation) -> bool:
    returned, expected = observation.returned_and_expected
    if returned.shape == expected.shape or returned.size != expected.size or not expected.ndim:
        return False
    return observation.is_close(returned.reshape(expected.shape), expected)
