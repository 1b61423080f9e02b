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

import numpy as np

from grader.cases.draw import Array
from grader.evaluation.values import array_of, largest
from grader.explain.observation import Observation, numbers
from grader.model.numerals import number

CASES = 3  # that a statement about numbers rests on
NUMBERS = 3  # different ones, in those
PROPOSERS = 2  # failing observations that propose
WEAK = 50  # the rank from which on a rule leaves much to be said
# What numpy raises on what a submission may have returned.
UNUSABLE = (ValueError, TypeError, LookupError, ArithmeticError)


@dataclass(frozen=True)
class Rule:
    """One statement about a result, as the end of a sentence that begins with its name."""

    rank: int  # the lower, the more it says
    text: str
    holds: Callable[[Observation], bool]
    # Whether a right result could not be right, were the statement true of it; None where it could.
    clashes: Callable[[Observation], bool] | None = None
    numeric: bool = True  # it may hold by chance where there are few numbers
    varies: Callable[[Observation], float] | None = None  # what has to differ from case to case
    local: bool = False  # it speaks of wrong entries alone, and so of no right case
    # On which cases it is so says nothing: of rounding, where it comes from; of a type, its own.
    anywhere: bool = False
    seen: str = ""  # what is added unless the cases are named: how far it goes
    least: int = 1  # failing cases of the question, other inputs apart, that it rests on
    entire: bool = False  # said only if it holds on all that is wrong, not on one sort of failure


Predict = Callable[[Observation], Array | None]
Proposals = Iterator[Rule]


def predicted(
    rank: int, text: str, predict: Predict, varies: Callable[[Observation], float] | None = None
) -> Rule:
    """A rule that says what the whole result is."""

    def holds(seen: Observation) -> bool:
        made = predict(seen)
        if seen.got is None or seen.expected is None or made is None:
            return False
        # What cannot be told from the right one says nothing of a wrong one.
        return seen.close(seen.got, made) and not seen.close(seen.expected, made)

    def clashes(seen: Observation) -> bool:
        made = None if seen.expected is None else predict(seen)
        return made is not None and not seen.close(seen.both[1], made)

    return Rule(rank, text, holds, clashes, varies=varies)


def propose(failing: Sequence[Observation]) -> list[Rule]:
    """The rules that hold on every failing observation of one group, each text once."""
    known: dict[str, Rule] = {}
    for seen in sorted(failing, key=_informativeness, reverse=True)[:PROPOSERS]:
        for family in FAMILIES:
            with contextlib.suppress(*UNUSABLE), np.errstate(all="ignore"):
                known |= {rule.text: rule for rule in family(seen)}
    return holding(known.values(), failing)


def holding(rules: Iterable[Rule], failing: Sequence[Observation]) -> list[Rule]:
    """The rules that hold on every one of some observations."""
    return [rule for rule in rules if all(_safely(rule.holds, seen) for seen in failing)]


def confirmed(rules: Iterable[Rule], failing: Sequence[Observation]) -> list[Rule]:
    """Those with enough behind them, the most informative first."""
    several = _different_numbers(failing, NUMBERS) >= NUMBERS
    enough = several and len(failing) >= CASES and len({seen.form for seen in failing}) > 1
    # What is said of wrong entries, several on every case, is seen there: no chance makes it so.
    visible = several and all(_safely(lambda c: c.wrong.sum() > 1, seen) for seen in failing)
    kept = [
        rule
        for rule in rules
        if (enough or not rule.numeric or (rule.local and visible))
        and (rule.varies is None or len({rule.varies(seen) for seen in failing}) > 1)
    ]
    return sorted(kept, key=lambda rule: (rule.rank, len(rule.text), rule.text))


def is_refuted(rule: Rule, right: Iterable[Observation]) -> bool:
    """Whether a case came out right that the rule would have made wrong."""
    return rule.clashes is not None and any(_safely(rule.clashes, seen) for seen in right)


def is_broad(failing: Sequence[Observation]) -> bool:
    """Whether there are so many cases that no coincidence explains them."""
    return len(failing) >= 2 * CASES and _different_numbers(failing, 2 * NUMBERS) >= 2 * NUMBERS


def _safely(ask: Callable[[Observation], bool], seen: Observation) -> bool:
    """An answer about whatever was returned: what cannot be computed with does not hold."""
    try:
        with np.errstate(all="ignore"):
            return bool(ask(seen))
    except UNUSABLE:
        return False


def _informativeness(seen: Observation) -> tuple[int, int]:
    """How many different numbers there are, up to some; of those alike the smaller first."""
    size = 0 if seen.expected is None else seen.expected.size
    return min(12, _different_numbers([seen], 12)), -size


def _different_numbers(observations: Sequence[Observation], most: int) -> int:
    """Different numbers that are expected, zeros apart; counted up to `most`."""
    found: set[float] = set()
    for seen in observations:
        if seen.expected is not None:
            values = seen.expected.ravel()[:200]
            found |= set(values[np.isfinite(values) & (values != 0)].tolist())
        if len(found) >= most:
            break
    return len(found)


# -- what the whole result is ---------------------------------------------------------------------

WORDS = {2.0: "twice", 0.5: "half", 3.0: "three times", 1 / 3: "a third", 4.0: "four times",
         0.25: "a quarter"}  # fmt: skip
ENTRYWISE: dict[str, Callable[[Array], Array]] = {
    "is the absolute value of the right one": np.abs,
    "is the right one with 0 for all that is negative": lambda b: np.maximum(b, 0.0),
    "is the square of the right one": np.square,
    "is the square root of the right one": np.sqrt,
    "is the exponential of the right one": np.exp,
    "is the logarithm of the right one": np.log,
    "is 1 minus the right one": lambda b: 1 - b,
    "is 1 over the right one": lambda b: 1 / b,
}
BY_SIZE: dict[str, Callable[[float], float]] = {
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
Made = Iterator[tuple[int, str, Array]]


def transformed(seen: Observation) -> Proposals:
    """Another result, an input, or a transformation of the right result."""
    for rank, text, made in _transformations(seen):
        got, right = seen.both
        # Along an axis of length 1 there is nothing to add up.
        same = made.ndim < right.ndim and np.array_equal(made.ravel(), right.ravel())
        if not same and seen.close(got, made):
            yield predicted(rank, text, _same_transformation(text))


def _same_transformation(text: str) -> Predict:
    def predict(seen: Observation) -> Array | None:
        return next((made for _, name, made in _transformations(seen) if name == text), None)

    return predict


def _transformations(seen: Observation) -> Made:
    """Rank, words and result of everything that a result is compared with."""
    got, b = seen.both
    yield 1, "is 0 throughout" if b.ndim else "is 0", np.zeros_like(b)
    for name, called, other in _values_beside(seen):
        if other.shape == got.shape and other.any() and (got.ndim or name in seen.others):
            rank = 11 if "[" in seen.result else 2
            yield rank, f"is {called}", other
            yield 3, f"is minus {called}", -other
    for text, of in ENTRYWISE.items():
        made = of(b)
        if np.isfinite(made).any():
            yield 15, text, made
    yield 41, "is rounded down", np.floor(b)
    yield 41, "is rounded up", np.ceil(b)
    if 1 <= b.ndim <= 4:
        yield from _moved(b, keepdims=got.ndim == b.ndim)


def _moved(b: Array, *, keepdims: bool) -> Made:
    """The right numbers in another order, or the same along an axis."""
    for order in itertools.permutations(range(b.ndim)):
        moved = [i for i, j in enumerate(order) if i != j]
        words = f"has its axes in the order {', '.join(map(str, order))}"
        if len(moved) == 2:
            words = f"has axes {moved[0]} and {moved[1]} exchanged"
        if moved:
            yield 5, words, b.transpose(order)
    for axis, length in enumerate(b.shape):
        along = f" along axis {axis}" if b.ndim > 1 else ""
        yield 6, f"is reversed{along}", np.flip(b, axis)
        for by, way in ((1, "towards the end"), (-1, "towards the start")):
            words = f"is shifted by one entry {way}{along}, the last one coming round"
            yield 7, words, np.roll(b, by, axis)
        if b.ndim == 1 or not length:
            continue
        for word, verb, how in (("mean", "averaged", np.mean), ("sum", "added up", np.sum)):
            kept = how(b, axis=axis, keepdims=True)
            repeated = np.broadcast_to(kept, b.shape)
            words = f"is the {word} of the right one along axis {axis}, repeated"
            yield 8, words, repeated
            yield 3, f"is {verb} along axis {axis}", kept if keepdims else kept.squeeze(axis)


def _values_beside(seen: Observation) -> Iterator[tuple[str, str, Array]]:
    """Right results of the same run, then inputs: name, what to call it, numbers."""
    for values, words in ((seen.others, "the right {}"), (seen.given, "the input {}")):
        for name, value in values.items():
            if values is seen.others and "[" in seen.result:
                words = "what {} should be"
            if (found := numbers(value)) is not None:
                yield name, words.format(name), found


def factors(seen: Observation) -> Proposals:
    """The right one times a number, a size or a sign."""
    a, b = seen.both
    top = largest(b)
    if a.shape != b.shape or not b.size or not top or not np.isfinite(a[np.isfinite(b)]).all():
        return
    at = np.unravel_index(int(np.argmax(np.where(np.isfinite(b), np.abs(b), -1))), b.shape)
    k, tight = float(a[at] / b[at]), 10 * seen.rounding
    if not k or not math.isfinite(k) or not seen.close(a, k * b):
        return
    if abs(k - 1) > tight:
        for known in (-1.0, *WORDS, *(-w for w in WORDS)):
            k = known if abs(k - known) < tight * abs(known) else k  # without its rounding
        yield predicted(20, f"is {_times(k)}", lambda c: k * c.both[1])
    for text, (rank, factor, size) in _multiples(seen).items():
        if size > 1 and abs(k / factor - 1) < tight:
            yield predicted(rank, text, _same_multiple(text), lambda c, t=text: _size(c, t))  # type: ignore[misc]


def _multiples(seen: Observation) -> dict[str, tuple[int, float, int]]:
    """Multiples by a size: rank, factor and size by words."""
    found = {}
    for rank, (words, of) in enumerate(BY_SIZE.items(), 22):
        for name, size in seen.sizes.items():
            with contextlib.suppress(ZeroDivisionError, ValueError):
                factor = of(size)
                for sign, minus in ((1, ""), (-1, "minus ")):
                    text = f"is {minus}{words} the right one, with N {name}"
                    if factor:
                        found[text] = rank, sign * factor, size
    return found


def _same_multiple(text: str) -> Predict:
    def predict(seen: Observation) -> Array | None:
        known = _multiples(seen).get(text)
        return None if known is None else known[1] * seen.both[1]

    return predict


def _size(seen: Observation, text: str) -> float:
    _, _, size = _multiples(seen).get(text, (0, 0.0, math.nan))
    return float(size)


def _times(k: float) -> str:
    """A factor in words, as the beginning of "... the right one"."""
    if k == -1:
        return "minus the right one"
    if abs(k) in WORDS:
        return f"{'minus ' if k < 0 else ''}{WORDS[abs(k)]} the right one"
    return f"{_written(k)} times the right one"


def _written(k: float) -> str:
    """A factor in digits; "1.000 times" would say nothing."""
    words = number(k)
    return f"{k:.9g}" if float(words) == 1 else words


def sums(seen: Observation) -> Proposals:
    """The right one plus a multiple of another result or of an input."""
    a, b = seen.both
    if a.shape != b.shape or b.size < 3 or not (np.isfinite(a).all() and np.isfinite(b).all()):
        return
    for name, called, other in _values_beside(seen):
        if other.shape != b.shape or not other.any() or not np.isfinite(other).all():
            continue
        at = np.unravel_index(int(np.argmax(np.abs(other))), other.shape)
        k = float(f"{float((a - b)[at] / other[at]):.6g}")
        if k and math.isfinite(k) and not seen.close(other, b) and seen.close(a, b + k * other):
            sign = "plus" if k > 0 else "minus"
            times = "" if abs(k) == 1 else f"{number(abs(k))} times "
            source = "others" if name in seen.others else "given"
            text = f"is the right one {sign} {times}{called}"
            yield predicted(12, text, _plus(source, name, k))


def _plus(source: str, name: str, k: float) -> Predict:
    def predict(seen: Observation) -> Array | None:
        other = numbers(getattr(seen, source).get(name))
        return None if other is None else seen.both[1] + k * other

    return predict


# -- what has another shape -----------------------------------------------------------------------

Pairs = Iterator[tuple[int, str, Array, Array]]


def reshaped(seen: Observation) -> Proposals:
    """What has another shape, and would be right but for that."""
    a, b = seen.both
    if a.shape == b.shape or (b.ndim == 0 and a.size == 1):  # the check says so
        return
    for rank, text, one, other in _reshapings(a, b):
        # Along an axis of length 1 there is nothing to add up.
        if seen.close(one, other) and (rank > 3 or one.size < a.size):
            yield Rule(rank, text, _same_reshaping(text))


def _same_reshaping(text: str) -> Callable[[Observation], bool]:
    def holds(seen: Observation) -> bool:
        found = (pair for _, name, *pair in _reshapings(*seen.both) if name == text)
        return any(seen.close(one, other) for one, other in found)

    return holds


def _reshapings(a: Array, b: Array) -> Pairs:
    """Rank, words, and two arrays that are equal where the words are true."""
    if b.ndim == 0:
        yield 4, "is not one number, but several whose sum is right", np.asarray(a.sum()), b
        mean = np.asarray(a.sum() / max(1, a.size))
        yield 4, "is not one number, but several whose mean is right", mean, b
        return
    if a.ndim == b.ndim + 1:
        for axis, length in enumerate(a.shape):
            total = a.sum(axis)
            yield 3, f"is not added up along axis {axis}", total, b
            yield 3, f"is not averaged along axis {axis}", total / max(1, length), b
    for axis in range(b.ndim) if a.ndim == b.ndim else ():
        n, m = sorted((a.shape[axis], b.shape[axis]))
        short, long = (a, b) if a.shape[axis] == n else (b, a)
        how = "lacks" if short is a else "has too many"
        if 0 < n < m:
            along = "" if b.ndim == 1 else f" of axis {axis}"
            for end, kept in (("end", range(n)), ("start", range(m - n, m))):
                text = f"{how} entries at the {end}{along}, and the others are right"
                yield 6, text, short, np.take(long, kept, axis)
    if a.size == b.size:
        words = "has the right numbers in the right order, in another shape"
        yield 7, words, a.reshape(b.shape), b


# -- what the wrong entries have in common --------------------------------------------------------


def _is_one_number(x: Array, _: Array) -> bool:
    return bool(x.size > 2 and np.isfinite(x).all() and np.ptp(x) == 0 and x[0])


Entries = Callable[[Array, Array], object]  # of what was given and what is right, in wrong entries
ENTRIES: dict[str, tuple[int, Entries]] = {
    "is NaN in every entry that is wrong": (50, lambda x, _: np.isnan(x).all()),
    "is infinite in every entry that is wrong": (50, lambda x, _: np.isinf(x).all()),
    "is 0 in every entry that is wrong": (51, lambda x, _: not x.any()),
    "is wrong only where minus infinity is expected": (52, lambda _, y: np.isneginf(y).all()),
    "is the same in every entry that is wrong": (54, _is_one_number),
}


def entries(seen: Observation) -> Proposals:
    """What the wrong entries have in common: of right cases it says nothing."""
    a, b = seen.both
    if a.shape != b.shape or not b.size:
        return
    if b.ndim == 0:
        yield Rule(4, "is NaN", lambda c: bool(np.isnan(c.both[0])), numeric=False)
        yield Rule(4, "is infinite", lambda c: bool(np.isinf(c.both[0])), numeric=False)
        return
    for text, (rank, test) in ENTRIES.items():
        numeric = "NaN" not in text and "infinite " not in text
        yield Rule(rank, text, _of_wrong_entries(test), numeric=numeric, local=True)
    wrong = seen.wrong
    if wrong.any() and not wrong.all() and b[wrong][0]:
        k = float(a[wrong][0] / b[wrong][0])
        if k and math.isfinite(k) and abs(k - 1) > 1e-6:
            words = "-1" if abs(k + 1) < 1e-9 else _written(k)
            text = f"is {words} times the right one in every entry that is wrong"
            holds = _of_wrong_entries(lambda x, y: seen.close(x, k * y))
            yield Rule(45, text, holds, local=True)
    yield from _right_sums(b)
    yield Rule(58, "holds the right numbers, in the wrong places", _is_elsewhere)


def _of_wrong_entries(test: Entries) -> Callable[[Observation], bool]:
    def holds(seen: Observation) -> bool:
        a, b = seen.both
        return bool(seen.wrong.any() and test(a[seen.wrong], b[seen.wrong]))

    return holds


def _right_sums(b: Array) -> Proposals:
    """Entries that are wrong and add up to what is right: over all, or over the last axes."""
    places = [("over all", tuple(range(b.ndim)))]
    if b.ndim > 1:
        places = [("along the last axis", (-1,)), *places]
    if b.ndim > 2:
        places = [places[0], ("over each plane", (-2, -1)), places[1]]
    for rank, (words, axes) in enumerate(places, 56):

        def holds(seen: Observation, axes: tuple[int, ...] = axes) -> bool:
            a, b = seen.both
            if not np.isfinite(b).all() or not np.isfinite(a).all() or seen.close(a, b):
                return False
            if all(b.shape[axis] < 2 for axis in axes):
                return False
            worst, right = np.abs(a - b).max(), b.sum(axes)
            # Whatever is centered adds up to 0, and whatever is normalized to 1.
            if largest(right) <= 1e-3 * worst or np.allclose(b.sum(-1), 1.0):
                return False
            # That sums agree says nothing where entries nearly do.
            most = min(10 * seen.rounding * max(largest(b), largest(a)), 1e-3 * worst)
            return bool(np.abs(a.sum(axes) - right).max(initial=0.0) <= most)

        text = f"has wrong entries, and the right sum {words}"
        yield Rule(rank, text, holds, local=True)


def _is_elsewhere(seen: Observation) -> bool:
    a, b = seen.both
    if seen.close(a, b) or np.unique(b[b != 0]).size < 2:
        return False
    return seen.close(np.sort(a, None), np.sort(b, None))


# -- digits and types -----------------------------------------------------------------------------


def digits(seen: Observation) -> Proposals:
    """Right to some digits, float32 numbers, rounded; how that came about is not known."""
    a, b = seen.both
    if a.shape != b.shape:
        return
    if isinstance(seen.returned, (list, tuple)):
        yield Rule(5, "holds the right numbers, in a list or tuple", _is_listed)
        return
    if seen.dtype == "float64" and array_of(seen.returned).dtype == np.float64:
        text = "holds float32 numbers only" if a.ndim else "is a float32 number"
        yield Rule(40, text, _is_single, _has_more_digits, anywhere=True)
    for places in range(13):
        text = f"is rounded to {places} decimals" if places else "is rounded to a whole number"
        yield Rule(42, text, _rounded_to(places), _not_rounded_to(places))
    if seen.dtype == "float64" and not isinstance(seen.right, (int, np.integer)):
        for right in (9, 6):
            # Small entries of an array may be right to fewer digits.
            bound = f"off by less than 1e-{right} of its largest entry"
            yield Rule(
                60 - right,
                f"is {bound}" if b.ndim else f"is right to {right} digits",
                _nearly_right(right),
                anywhere=True,
                seen=" in every case that was tried",
                least=CASES,
                varies=_worst,
            )


def _is_listed(seen: Observation) -> bool:
    return isinstance(seen.returned, (list, tuple)) and seen.close(*seen.both)


def _in_single(array: Array) -> bool:
    as_single = array.astype(np.float32).astype(np.float64)
    return np.array_equal(array, as_single, equal_nan=True)


def _is_single(seen: Observation) -> bool:
    a, b = seen.both
    # Right numbers of few digits are float32 numbers too: then it says nothing.
    ours = a.shape == b.shape and np.isfinite(a).all() and a.any() and _in_single(a)
    return bool(ours and not _in_single(b) and np.abs(a - b).max() < 1e-3 * largest(b))


def _has_more_digits(seen: Observation) -> bool:
    return not _in_single(seen.both[0])


def _rounded_to(places: int) -> Callable[[Observation], bool]:
    def holds(seen: Observation) -> bool:
        a, b = seen.both
        if a.shape != b.shape or not np.isfinite(b).all() or not a.any() or largest(b) >= 1e4:
            return False
        is_near = np.abs(a - b).max(initial=0.0) <= 0.5001 * 10.0**-places
        return bool(is_near and np.array_equal(a, np.round(a, places)))

    return holds


def _not_rounded_to(places: int) -> Callable[[Observation], bool]:
    def clashes(seen: Observation) -> bool:
        b = seen.expected
        return b is not None and bool((np.abs(b - np.round(b, places)) > 1e-14 * largest(b)).any())

    return clashes


def is_right_to(seen: Observation, digits: int) -> bool:
    """Whether the worst entry is off by less than that of the largest.

    What is not 0 where 0 is expected has no right digits.
    """
    a, b = seen.got, seen.expected
    if a is None or b is None or a.shape != b.shape or not np.isfinite(b).all():
        return False
    if ((b == 0) & (a != 0)).any():
        return False
    return bool(np.abs(a - b).max(initial=0.0) < 10.0**-digits * largest(b))


def _nearly_right(digits: int) -> Callable[[Observation], bool]:
    # What is equal is wrong in another way.
    return lambda seen: is_right_to(seen, digits) and not np.array_equal(*seen.both)


def _worst(seen: Observation) -> float:
    """By how much it is off: a difference that never varies has nothing to do with digits."""
    a, b = seen.both
    return float(f"{np.abs(a - b).max(initial=0.0):.3g}") if a.shape == b.shape else math.nan


def typed(seen: Observation) -> Proposals:
    """What is no number where one is expected, and the other way round."""
    returned, right = seen.returned, seen.right
    if isinstance(right, (bool, np.bool_)) and isinstance(returned, (bool, np.bool_)):
        text = f"is {not right} where it should be {bool(right)}"
        yield Rule(
            5, text, lambda c: str(c.returned) == str(returned),
            numeric=False, anywhere=True, entire=True,
        )  # fmt: skip
    if right is None and seen.got is not None:
        yield Rule(
            5, "is a number where None is expected",
            lambda c: c.right is None and c.got is not None,
            numeric=False, anywhere=True, entire=True,
        )  # fmt: skip


FAMILIES = (transformed, factors, sums, reshaped, entries, digits, typed)
