"""Statements that hold on every failing observation of a result, and on further inputs.

A rule is proposed by one failing observation and kept while it holds on all others.  "It is half
of the right one" also has to be refuted by no right one that half of it would have made wrong.  A
statement about numbers rests on three cases and three different numbers at least: one number alone
is always some multiple of another.
"""

from __future__ import annotations

import contextlib
import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from grader.cases.draw import Array
from grader.explain.observation import ORDINALS, Observation, to_float64
from grader.grading.values import largest_magnitude, to_array
from grader.model.number_format import format_number

MIN_CASES = 3  # that a statement about numbers rests on
MIN_NUMBERS = 3  # different ones, in those
MAX_PROPOSERS = 2  # failing observations that propose
PLACE_RANK = 53  # the rank of a rule that says no more than where
WEAK_RANK = 50  # the rank from which on a rule leaves much to be said
# What numpy raises on what a submission may have returned.
UNUSABLE_VALUE_ERRORS = (ValueError, TypeError, LookupError, ArithmeticError)
ObservationTest = Callable[[Observation], bool]
PredictArray = Callable[[Observation], Array | None]


@dataclass(frozen=True)
class Rule:
    """One statement about a result, as the end of a sentence that begins with its name."""

    rank: int  # the lower, the more it says
    text: str
    holds: ObservationTest
    # Whether a right result could not be right, were the statement true of it; None where it could.
    contradicts_right_result: ObservationTest | None = None
    numeric: bool = True  # it may hold by chance where there are few numbers
    varying_size: Callable[[Observation], float] | None = (
        None  # what has to differ from case to case
    )
    is_about_wrong_entries: bool = (
        False  # it speaks of wrong entries alone, and so of no right case
    )
    # On which cases it is so says nothing: of rounding, where it comes from; of a type, its own.
    holds_on_any_cases: bool = False
    holds_mostly: ObservationTest | None = (
        None  # what has to be so on half of the failing observations at least
    )
    is_one_of_many: bool = (
        False  # one of many that were tried, on few whole numbers: chance is not far
    )
    min_failing_cases: int = (
        1  # failing cases of the question, other inputs apart, that it rests on
    )


def propose_rules(failing: Sequence[Observation]) -> list[Rule]:
    """The rules that hold on every failing observation of one group, each text once."""
    known: dict[str, Rule] = {}
    for seen in sorted(failing, key=_informativeness, reverse=True)[:MAX_PROPOSERS]:
        for family in (prediction_rules, entry_rules, place_rules, digit_rules, type_rules):
            with contextlib.suppress(*UNUSABLE_VALUE_ERRORS), np.errstate(all="ignore"):
                known |= {rule.text: rule for rule in family(seen)}
    return rules_holding_on(known.values(), failing)


def rules_holding_on(rules: Iterable[Rule], failing: Sequence[Observation]) -> list[Rule]:
    """The rules that hold on every one of some observations."""
    return [rule for rule in rules if all(_safely(rule.holds, seen) for seen in failing)]


def confirmed_rules(rules: Iterable[Rule], failing: Sequence[Observation]) -> list[Rule]:
    """Those with enough behind them, the most informative first."""
    several = _different_numbers(failing, MIN_NUMBERS) >= MIN_NUMBERS
    enough = (
        several and len(failing) >= MIN_CASES and len({seen.input_form for seen in failing}) > 1
    )
    # What is said of wrong entries, several on every case, is seen there: no chance makes it so.
    visible = several and all(
        _safely(lambda c: c.wrong_entries.sum() > 1, seen) for seen in failing
    )
    kept = [
        rule
        for rule in rules
        if (enough or not rule.numeric or (rule.is_about_wrong_entries and visible))
        and (not rule.is_one_of_many or is_beyond_chance(failing))
        and (rule.varying_size is None or len({rule.varying_size(seen) for seen in failing}) > 1)
        and (
            rule.holds_mostly is None
            or 2 * sum(_safely(rule.holds_mostly, s) for s in failing) >= len(failing)
        )
    ]
    return sorted(kept, key=lambda rule: (rule.rank, len(rule.text), rule.text))


def is_refuted(rule: Rule, right: Iterable[Observation]) -> bool:
    """Whether a case came out right that the rule would have made wrong."""
    return rule.contradicts_right_result is not None and any(
        _safely(rule.contradicts_right_result, seen) for seen in right
    )


def is_beyond_chance(failing: Sequence[Observation]) -> bool:
    """Whether there are so many cases that no coincidence explains them."""
    return (
        len(failing) >= 2 * MIN_CASES
        and _different_numbers(failing, 2 * MIN_NUMBERS) >= 2 * MIN_NUMBERS
    )


def _safely(ask: ObservationTest, seen: Observation) -> bool:
    """An answer about whatever was returned: what cannot be computed with does not hold."""
    try:
        with np.errstate(all="ignore"):
            return bool(ask(seen))
    except UNUSABLE_VALUE_ERRORS:
        return False


def _informativeness(seen: Observation) -> tuple[int, int]:
    """How many different numbers there are, up to some; of those alike the smaller first."""
    size = 0 if seen.expected_array is None else seen.expected_array.size
    return min(12, _different_numbers([seen], 12)), -size


def _different_numbers(observations: Sequence[Observation], most: int) -> int:
    """Different numbers that are expected, zeros apart; counted up to `most`."""
    found: set[float] = set()
    for seen in observations:
        if seen.expected_array is not None:
            values = seen.expected_array.ravel()[:200]
            found |= set(values[np.isfinite(values) & (values != 0)].tolist())
        if len(found) >= most:
            break
    return len(found)


# -- what the whole result is ---------------------------------------------------------------------

FACTOR_WORDS = {2.0: "twice", 0.5: "half", 3.0: "three times", 1 / 3: "a third", 4.0: "four times",
         0.25: "a quarter"}  # fmt: skip
ENTRYWISE_CHANGES: dict[str, tuple[int, Callable[[Array], Array]]] = {
    "is the absolute value of the right one": (15, np.abs),
    "is the right one with 0 for all that is negative": (15, lambda b: np.maximum(b, 0.0)),
    "is the square of the right one": (15, np.square),
    "is the square root of the right one": (15, np.sqrt),
    "is the exponential of the right one": (15, np.exp),
    "is the logarithm of the right one": (15, np.log),
    "is rounded down": (41, np.floor),
    "is rounded up": (41, np.ceil),
}
AXIS_REDUCTIONS: dict[str, Callable[..., Array]] = {
    "the sum of": np.sum,
    "the mean of": np.mean,
    "the first of": lambda b, axis: np.take(b, 0, axis),
    "the last of": lambda b, axis: np.take(b, -1, axis),
}
SIZE_FACTORS: dict[str, Callable[[float], float]] = {
    "1/N of": lambda n: 1 / n,
    "N times": lambda n: n,
    "(N + 1)/N of": lambda n: (n + 1) / n,
    "N/(N - 1) of": lambda n: n / (n - 1),
    "(N - 1)/N of": lambda n: (n - 1) / n,
    "N/(N + 1) of": lambda n: n / (n + 1),
    "1/N² of": lambda n: 1 / n**2,
    "N² times": lambda n: n**2,
    "1/√N of": lambda n: 1 / math.sqrt(n),
    "√N times": math.sqrt,
}


def prediction_rules(seen: Observation) -> Iterator[Rule]:
    """Another result, an input, or what is made of the right result: the whole of it."""
    got, right = seen.returned_and_expected
    k = ratio_of_arrays(got, right)
    for text, (rank, make, size) in _made(seen).items():
        if size and not math.isclose(make.args[0], k, rel_tol=0.1):
            continue  # most are ruled out by one entry
        if size != 1 and seen.is_close(got, make()):
            yield prediction_rule(rank, text, partial(_remade, text), by_size=size > 0)
    if got.shape == right.shape and right.size:
        yield from _factor(seen)
        yield from _sums(seen)


def prediction_rule(rank: int, text: str, predict: PredictArray, *, by_size: bool = False) -> Rule:
    """A rule that says what the whole result is."""

    def holds(seen: Observation) -> bool:
        made = predict(seen)
        if seen.returned_array is None or seen.expected_array is None or made is None:
            return False
        # What cannot be told from the right one says nothing of a wrong one.
        same = seen.is_close(seen.returned_array, made) and not seen.is_close(
            seen.expected_array, made
        )
        return same and bool(np.isfinite(made).any())

    def clashes(seen: Observation) -> bool:
        made = None if seen.expected_array is None else predict(seen)
        return made is not None and not seen.is_close(seen.returned_and_expected[1], made)

    varies = (lambda seen: _made(seen)[text][2]) if by_size else None
    return Rule(rank, text, holds, clashes, varying_size=varies)


def _made(seen: Observation) -> dict[str, tuple[int, partial[Array], int]]:
    """By words everything that a result is compared with: rank, what makes it, and its N."""
    got, b = seen.returned_and_expected
    zero = "is 0 throughout" if b.ndim else "is 0"
    found: dict[str, tuple[int, partial[Array], int]]
    found = {zero: (1, partial(np.zeros_like, b), 0)}
    for source, _, called, other in _values_beside(seen):
        if other.shape == got.shape and other.any() and (got.ndim or source == "other_results"):
            rank = 11 if "[" in seen.result else 2
            found[f"is {called}"] = rank, partial(np.positive, other), 0
            found.setdefault(f"is minus {called}", (3, partial(np.negative, other), 0))
    found |= {text: (rank, partial(of, b), 0) for text, (rank, of) in ENTRYWISE_CHANGES.items()}
    for one, two in itertools.combinations(range(b.ndim), 2):
        found[f"has axes {one} and {two} exchanged"] = 5, partial(b.swapaxes, one, two), 0
    for axis, nth in enumerate(ORDINALS[: b.ndim if b.ndim > 1 else 0]):
        for words, of in AXIS_REDUCTIONS.items() if b.shape[axis] > 1 else ():
            text = f"repeats {words} the right one along its {nth} axis"
            found[text] = 6, partial(_throughout, of, b, axis), 0
    for rank, (words, factor) in enumerate(SIZE_FACTORS.items(), 22):
        for name, n in seen.named_sizes.items():
            with contextlib.suppress(ZeroDivisionError, ValueError):
                for sign, minus in ((1, ""), (-1, "minus ")):
                    text = f"is {minus}{words} the right one, with N {name}"
                    found[text] = rank, partial(np.multiply, sign * factor(n), b), n
    return found


def _throughout(of: Callable[..., Array], b: Array, axis: int) -> Array:
    """What is made of an axis, for each of its indices."""
    return np.broadcast_to(np.expand_dims(of(b, axis=axis), axis), b.shape)


def _remade(text: str, seen: Observation) -> Array | None:
    known = _made(seen).get(text)
    return known and known[1]()


def _values_beside(seen: Observation) -> Iterator[tuple[str, str, str, Array]]:
    """Right results of the same run, then inputs: where from, name, what to call it, numbers."""
    right = "what {} should be" if "[" in seen.result else "the right {}"
    for source, words in (("other_results", right), ("input_values", "the input {}")):
        for name, value in getattr(seen, source).items():
            if (found := to_float64(value)) is not None:
                yield source, name, words.format(name), found


def _factor(seen: Observation) -> Iterator[Rule]:
    """The right one times a number or a sign."""
    a, b = seen.returned_and_expected
    if not largest_magnitude(b):
        return
    at = np.unravel_index(int(np.argmax(np.where(np.isfinite(b), np.abs(b), -1))), b.shape)
    k, tight = float(a[at] / b[at]), 10 * seen.relative_rounding
    if k and math.isfinite(k) and abs(k - 1) > tight and seen.is_close(a, k * b):
        for known in (-1.0, *FACTOR_WORDS, *(-w for w in FACTOR_WORDS)):
            k = known if abs(k - known) < tight * abs(known) else k  # without its rounding
        yield prediction_rule(
            20, f"is {factor_in_words(k)}the right one", lambda c: k * c.returned_and_expected[1]
        )


def factor_in_words(k: float) -> str:
    """How many times something: "half ", "minus twice ", "0.3000 times "."""
    if abs(k) == 1:
        return "minus " if k < 0 else ""
    return (
        f"{'minus ' * (k < 0)}{FACTOR_WORDS[abs(k)]} "
        if abs(k) in FACTOR_WORDS
        else f"{_written(k)} times "
    )


def _written(k: float) -> str:
    """A factor in digits; "1.000 times" would say nothing."""
    return f"{k:.9g}" if abs(k - 1) < 1e-3 else format_number(k)


def _sums(seen: Observation) -> Iterator[Rule]:
    """The right one plus a number, or a multiple of another result or of an input."""
    a, b = seen.returned_and_expected
    if not (np.isfinite(a).all() and np.isfinite(b).all()):
        return
    beside = [] if b.size < 3 else [one for one in _values_beside(seen) if one[3].shape == b.shape]
    for source, name, called, _ in (("", "", "", b), *beside):
        made = partial(_plus, source, name)
        other = made(1.0, seen) - b
        k = ratio_of_arrays(a - b, other)
        if not k or not seen.is_close(a, made(k, seen)) or seen.is_close(other, b):
            continue
        much = f"{factor_in_words(abs(k))}{called}" if called else format_number(abs(k))
        text = f"is the right one {'plus' if k > 0 else 'minus'} {much}"
        yield prediction_rule(12 if called else 21, text, partial(made, k))


def _plus(source: str, name: str, k: float, seen: Observation) -> Array:
    """The right one plus `k` times something."""
    b = seen.returned_and_expected[1]
    other = to_float64(getattr(seen, source)[name]) if source else np.ones_like(b)
    if other is None:
        raise ValueError("no numbers")
    return b + k * other


def ratio_of_arrays(one: Array, other: Array) -> float:
    """How many times the other the one is, where the other is largest; 0 where nobody knows."""
    finite = np.where(np.isfinite(other), np.abs(other), 0.0)
    if one.shape != other.shape or not finite.any():
        return 0.0
    at = np.unravel_index(int(np.argmax(finite)), other.shape)
    k = float(one[at] / other[at])
    return float(f"{k:.6g}") if math.isfinite(k) else 0.0


# -- what the wrong entries have in common --------------------------------------------------------

EntryTest = Callable[
    [Array, Array], object
]  # of what was given and what is right, in wrong entries
ENTRY_TESTS: dict[str, tuple[int, EntryTest]] = {
    "is NaN in every entry that is wrong": (50, lambda x, _: np.isnan(x).all()),
    "is infinite in every entry that is wrong": (50, lambda x, _: np.isinf(x).all()),
    "is 0 in every entry that is wrong": (51, lambda x, _: not x.any()),
    "is wrong only where minus infinity is expected": (52, lambda _, y: np.isneginf(y).all()),
    "is the same in every entry that is wrong": (
        54, lambda x, _: x.size > 2 and np.isfinite(x).all() and np.ptp(x) == 0 and x[0]
    ),
}  # fmt: skip


def entry_rules(seen: Observation) -> Iterator[Rule]:
    """What the wrong entries have in common: of right cases it says nothing."""
    a, b = seen.returned_and_expected
    if a.shape != b.shape or not b.size:
        return
    if b.ndim == 0:
        yield Rule(4, "is NaN", lambda c: bool(np.isnan(c.returned_and_expected[0])), numeric=False)
        yield Rule(
            4, "is infinite", lambda c: bool(np.isinf(c.returned_and_expected[0])), numeric=False
        )
        return
    for text, (rank, test) in ENTRY_TESTS.items():
        numeric = "NaN" not in text and "infinite " not in text
        yield Rule(
            rank, text, _of_wrong_entries(test), numeric=numeric, is_about_wrong_entries=True
        )
    wrong = seen.wrong_entries
    if wrong.any() and not wrong.all() and b[wrong][0]:
        k = float(a[wrong][0] / b[wrong][0])
        if k and math.isfinite(k) and abs(k - 1) > 1e-6:
            words = "-1" if abs(k + 1) < 1e-9 else _written(k)
            text = f"is {words} times the right one in every entry that is wrong"
            holds = _of_wrong_entries(lambda x, y: seen.is_close(x, k * y))
            yield Rule(45, text, holds, is_about_wrong_entries=True)
    sums = {"over all": tuple(range(b.ndim)), "over each plane": (-2, -1)}
    for words, axes in {**sums, "along the last axis": (-1,)}.items():
        if words == "over all" or len(axes) < b.ndim:
            text = f"has wrong entries, and the right sum {words}"
            yield Rule(
                55 + len(axes), text, partial(_is_right_sum, axes), is_about_wrong_entries=True
            )


def place_rules(seen: Observation) -> Iterator[Rule]:
    """Where all wrong entries are: everywhere there in this case, and nowhere else in any."""
    for text, mask in _places(seen).items():
        if np.array_equal(mask, seen.wrong_entries):
            whole = partial(_is_wrong_at, text)
            holds = partial(_is_wrong_only, text)
            yield Rule(
                PLACE_RANK,
                f"is wrong only {text}",
                holds,
                is_about_wrong_entries=True,
                holds_mostly=whole,
            )


def _is_wrong_at(text: str, seen: Observation) -> bool:
    return bool(np.array_equal(_places(seen)[text], seen.wrong_entries))


def _is_wrong_only(text: str, seen: Observation) -> bool:
    where = _places(seen)[text]
    return bool(
        seen.wrong_entries.any() and not (seen.wrong_entries & ~where).any() and not where.all()
    )


def _places(seen: Observation) -> dict[str, Array]:
    """By words, the entries of a result that are somewhere, or have something in common."""
    b = seen.returned_and_expected[1]
    found: dict[str, Array] = {}
    for axis, nth in enumerate(ORDINALS[: b.ndim]):
        at = np.arange(b.shape[axis]).reshape([-1 if i == axis else 1 for i in range(b.ndim)])
        first, where = ("index", f" of its {nth} axis") if b.ndim > 1 else ("entry", "")
        last = b.shape[axis] - 1
        for words, mask in (
            ("at the first", at == 0), ("after the first", at > 0),
            ("at the last", at == last), ("before the last", at < last),
        ):  # fmt: skip
            found[f"{words} {first}{where}"] = np.broadcast_to(mask, b.shape)
    inputs = {
        f"the input {n}": x
        for n, v in seen.input_values.items()
        if (x := to_float64(v)) is not None
    }
    for name, x in {"the right one": b, **inputs}.items():
        if x.shape == b.shape:
            found |= {
                f"where {name} is negative": x < 0,
                f"where {name} is positive": x > 0,
                **({f"where {name} is 0": x == 0} if x is not b else {}),  # of b it says nothing
            }
    for name, value in seen.input_values.items():
        m = to_array(value) if value is not None else np.zeros(0)
        if m.dtype.kind in "bi" and 0 < m.ndim <= b.ndim and m.shape == b.shape[: m.ndim]:
            wide = m.reshape(m.shape + (1,) * (b.ndim - m.ndim))
            texts = (
                {"True": wide, "False": ~wide} if m.dtype.kind == "b" else {"negative": wide < 0}
            )
            for word, mask in texts.items():
                found[f"where {name} is {word}"] = np.broadcast_to(mask, b.shape)
    return found


def _of_wrong_entries(test: EntryTest) -> ObservationTest:
    def holds(seen: Observation) -> bool:
        a, b = seen.returned_and_expected
        return bool(seen.wrong_entries.any() and test(a[seen.wrong_entries], b[seen.wrong_entries]))

    return holds


def _is_right_sum(axes: tuple[int, ...], seen: Observation) -> bool:
    """Whether entries are wrong and add up to what is right over some axes."""
    a, b = seen.returned_and_expected
    if not np.isfinite(b).all() or not np.isfinite(a).all() or seen.is_close(a, b):
        return False
    if all(b.shape[axis] < 2 for axis in axes):
        return False
    worst, right = np.abs(a - b).max(), b.sum(axes)
    # Whatever is centered adds up to 0, and whatever is normalized to 1.
    if largest_magnitude(right) <= 1e-3 * worst or np.allclose(b.sum(-1), 1.0):
        return False
    # That sums agree says nothing where entries nearly do.
    most = min(
        10 * seen.relative_rounding * max(largest_magnitude(b), largest_magnitude(a)), 1e-3 * worst
    )
    return bool(np.abs(a.sum(axes) - right).max(initial=0.0) <= most)


# -- digits, types and shapes ---------------------------------------------------------------------


def digit_rules(seen: Observation) -> Iterator[Rule]:
    """Right to some digits, float32 numbers, rounded; how that came about is not known."""
    a, b = seen.returned_and_expected
    if a.shape != b.shape or isinstance(seen.returned, (list, tuple)):
        return
    if seen.dtype == "float64" and to_array(seen.returned).dtype == np.float64:
        text = "holds float32 numbers only" if a.ndim else "is a float32 number"
        yield _coarse(
            40, text, lambda x: x.astype(np.float32), lambda b: 1e-3 * largest_magnitude(b)
        )
    for places in range(13):
        text = f"is rounded to {places} decimals" if places else "is rounded to a whole number"
        within = 0.5001 * 10.0**-places
        yield _coarse(42, text, partial(_rounded, places), lambda _, w=within: w)  # type: ignore[misc]
    if seen.dtype == "float64" and not isinstance(seen.expected_value, (int, np.integer)):
        for right in (9, 6):
            # Small entries of an array may be right to fewer digits.
            bound = f"is off by less than 1e-{right} of its largest entry"
            bound = (
                f"{bound if b.ndim else f'is right to {right} digits'} in every case that was tried"
            )
            holds = partial(_is_nearly_right, right)
            yield Rule(
                60 - right,
                bound,
                holds,
                holds_on_any_cases=True,
                is_about_wrong_entries=True,
                min_failing_cases=MIN_CASES,
            )


def _rounded(places: int, array: Array) -> Array:
    return np.round(array, places)


def _coarse(
    rank: int, text: str, into: Callable[[Array], Array], within: Callable[[Array], float]
) -> Rule:
    """A rule that a result has few digits, where the right one has more and is near."""

    def holds(seen: Observation) -> bool:
        a, b = seen.returned_and_expected
        is_near = a.shape == b.shape and np.isfinite(b).all() and a.any()
        is_near = is_near and np.abs(a - b).max(initial=0.0) <= within(b)
        return bool(is_near and np.array_equal(a, into(a)) and not np.array_equal(b, into(b)))

    def clashes(seen: Observation) -> bool:
        return seen.returned_array is not None and not np.array_equal(
            seen.returned_array, into(seen.returned_array)
        )

    return Rule(rank, text, holds, clashes, holds_on_any_cases=rank == 40)


def is_right_to_digits(seen: Observation, digits: int) -> bool:
    """Whether the worst entry is off by less than that of the largest.

    What is not 0 where 0 is expected has no right digits.
    """
    a, b = seen.returned_array, seen.expected_array
    if a is None or b is None or a.shape != b.shape or not np.isfinite(b).all():
        return False
    if ((b == 0) & (a != 0)).any():
        return False
    return bool(np.abs(a - b).max(initial=0.0) < 10.0**-digits * largest_magnitude(b))


def _is_nearly_right(digits: int, seen: Observation) -> bool:
    return is_right_to_digits(seen, digits) and not np.array_equal(
        *seen.returned_and_expected
    )  # equal, but for its type


def type_rules(seen: Observation) -> Iterator[Rule]:
    """A number where none is expected, the other one of two truth values, another shape."""
    returned, right = seen.returned, seen.expected_value
    if isinstance(right, (bool, np.bool_)) and isinstance(returned, (bool, np.bool_)):
        text, said = f"is {not right} where it should be {bool(right)}", str(returned)
        yield Rule(
            5, text, lambda c: str(c.returned) == said, numeric=False, holds_on_any_cases=True
        )
    elif right is None and seen.returned_array is not None:
        text = "is a number where None is expected"
        yield Rule(
            5,
            text,
            lambda c: c.expected_value is None and c.returned_array is not None,
            numeric=False,
            holds_on_any_cases=True,
        )
    elif _is_reshaped(seen):
        text = "has the right numbers in the right order, in another shape"
        yield Rule(7, text, _is_reshaped)


def _is_reshaped(seen: Observation) -> bool:
    a, b = seen.returned_and_expected
    other = bool(b.ndim) and a.shape != b.shape and a.size == b.size
    return other and seen.is_close(a.reshape(b.shape), b)
