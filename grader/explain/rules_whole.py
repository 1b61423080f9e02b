"""Rules that say what a whole result is: a multiple, another result, the right one moved."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from grader.cases.draw import Array
from grader.evaluation.results import largest
from grader.explain.cells import Cell, numbers
from grader.explain.rules import Rule, predicted
from grader.model.numerals import number

WORDS = {2.0: "twice", 0.5: "half", 3.0: "three times", 1 / 3: "a third", 4.0: "four times",
         0.25: "a quarter"}  # fmt: skip
SHAPES: dict[str, Callable[[Array], Array]] = {
    "is the absolute value of the right one": np.abs,
    "is the right one with 0 for all that is negative": lambda b: np.maximum(b, 0.0),
    "is the square of the right one": np.square,
    "is the square root of the right one": np.sqrt,
    "is the exponential of the right one": np.exp,
    "is the logarithm of the right one": np.log,
    "is 1 minus the right one": lambda b: 1 - b,
    "is 1 over the right one": lambda b: 1 / b,
}
SIDES = ("first", "second", "third", "fourth")

COUNTED = "that are not negative here"  # as labels are that count


def axis_of(name: str, axis: int, ndim: int) -> str:
    """An axis of an array in words."""
    if ndim == 1:
        return f"the length of {name}"
    return f"the length of the {SIDES[axis]} axis of {name}" if axis < len(SIDES) else ""


def sizes(cell: Cell) -> dict[str, int]:
    """What a result could be divided or multiplied by, in words that a reader knows."""
    found: dict[str, int] = {}
    for name, value in cell.given.items():
        if isinstance(value, int) and not isinstance(value, bool):
            found[name] = value
            continue
        array = np.asarray(value) if isinstance(value, np.ndarray) else None
        if array is None or not array.ndim:
            continue
        counted = int((array >= 0).sum()) if array.dtype.kind in "iu" else -1
        if array.shape[-1] and array.ndim > 1:
            # Named before the first axis: of a matrix they are the same, and what a program does
            # with an array of more axes, matrices do not say.
            found[f"the number of rows of {name}"] = array.size // array.shape[-1]
        for axis, length in enumerate(array.shape):
            if array.ndim > 1 or length != counted:  # else nobody knows which of both it is
                found[axis_of(name, axis, array.ndim)] = length
        if array.ndim > 1:
            found[f"the number of entries of {name}"] = array.size
        elif counted >= 0:
            found[f"the number of entries of {name} {COUNTED}"] = counted
    if cell.b is not None and cell.b.ndim > 1:
        for axis, length in enumerate(cell.b.shape):
            found.setdefault(axis_of(cell.result, axis, cell.b.ndim), length)
    found.pop("", None)
    # Which of both it is nobody knows where a length is also how many labels are counted.
    labels = {n for name, n in found.items() if name.endswith(COUNTED)}
    return {n: size for n, size in found.items() if n.endswith(COUNTED) or size not in labels}


def _size(cell: Cell, name: str) -> float:
    return float(sizes(cell).get(name, math.nan))


def factors(cell: Cell) -> Iterator[Rule]:
    """The right one times a number, a size or a sign."""
    a, b = cell.a, cell.b
    if a is None or b is None or a.shape != b.shape or not b.size:
        return
    top = largest(b)
    if not top or not np.isfinite(a[np.isfinite(b)]).all():
        return
    at = np.unravel_index(int(np.argmax(np.where(np.isfinite(b), np.abs(b), -1))), b.shape)
    k = float(a[at] / b[at])
    if not k or not math.isfinite(k) or not cell.close(a, k * b):
        return
    tight = 10 * cell.loose
    if abs(k - 1) > tight:
        yield predicted(20, f"is {_times(k, tight)}", partial(_multiple, k=_neat(k, tight)))
    known = sizes(cell)
    forms: list[tuple[str, str, Callable[[float], float]]] = [
        ("1/N of", "N", lambda n: 1 / n),
        ("N times", "N", lambda n: n),
        ("(N + 1)/N of", "N", lambda n: (n + 1) / n),
        ("N/(N - 1) of", "N", lambda n: n / (n - 1)),
        ("(N - 1)/N of", "N", lambda n: (n - 1) / n),
        ("N/(N + 1) of", "N", lambda n: n / (n + 1)),
        ("1/N² of", "N", lambda n: 1 / n**2),
        ("N² times", "N", lambda n: n**2),
        ("1/√N of", "N", lambda n: 1 / math.sqrt(n)),
        ("√N times", "N", math.sqrt),
    ]
    for rank, (words, _, of) in enumerate(forms):
        for name, n in known.items():
            with np.errstate(all="ignore"):
                try:
                    made = of(n)
                except (ZeroDivisionError, ValueError):
                    continue
            for sign in (1, -1):
                if n > 1 and abs(k / (sign * made) - 1) < tight:
                    minus = "" if sign > 0 else "minus "
                    text = f"is {minus}{words} the right one, with N {name}"
                    predict = partial(_scaled, name=name, of=of, sign=sign)
                    yield predicted(22 + rank, text, predict, varies=partial(_size, name=name))
    for (one, n), (other, m) in itertools.combinations(known.items(), 2):
        for words, made in (("1/(N M) of", 1 / (n * m) if n * m else 0), ("N M times", n * m)):
            if n > 1 and m > 1 and abs(k / made - 1) < tight:
                text = f"is {words} the right one, with N {one} and M {other}"
                predict = partial(_product, one=one, other=other, over=words.startswith("1"))
                varies = partial(_size_product, one=one, other=other)
                yield predicted(34, text, predict, varies=varies)


def _multiple(cell: Cell, *, k: float) -> Array | None:
    return None if cell.b is None else np.asarray(k * cell.b)


def _scaled(cell: Cell, *, name: str, of: Callable[[float], float], sign: int) -> Array | None:
    n = sizes(cell).get(name)
    if n is None or cell.b is None:
        return None
    try:
        return np.asarray(sign * of(n) * cell.b)
    except (ZeroDivisionError, ValueError):
        return None


def _product(cell: Cell, *, one: str, other: str, over: bool) -> Array | None:
    k = _size_product(cell, one=one, other=other)
    if cell.b is None or not math.isfinite(k) or not k:
        return None
    return np.asarray(cell.b / k if over else cell.b * k)


def _size_product(cell: Cell, *, one: str, other: str) -> float:
    known = sizes(cell)
    return float(known.get(one, math.nan)) * float(known.get(other, math.nan))


def _neat(k: float, tight: float) -> float:
    """The factor itself, without its rounding."""
    for simple in (-1.0, *WORDS, *(-w for w in WORDS)):
        if abs(k - simple) < tight * abs(simple):
            return simple
    return k


def _times(k: float, tight: float) -> str:
    """A factor in words, as the beginning of "... the right one"."""
    if abs(k + 1) < tight:
        return "minus the right one"
    for known, word in WORDS.items():
        if abs(abs(k) - known) < tight * known:
            return f"{'minus ' if k < 0 else ''}{word} the right one"
    words = number(k)
    # "1.000 times" says nothing.
    return f"{f'{k:.9g}' if words.strip('0') == '1.' else words} times the right one"


def rates(cell: Cell) -> Iterator[Rule]:
    """A whole number that is so many per one of the inputs, and should be so many others."""
    a, b = cell.a, cell.b
    if a is None or b is None or a.ndim or b.ndim or not b or not a:
        return
    for name, n in cell.given.items():
        if not isinstance(n, int) or isinstance(n, bool) or n < 3:
            continue
        if float(a) % n == 0 and float(b) % n == 0 and int(float(a) // n) <= 256:
            per = int(float(a) // n)
            yield predicted(
                10, f"is {per} per {name} in every case",
                partial(_per, per=per, name=name), varies=partial(_given, name=name),
            )  # fmt: skip


def _per(cell: Cell, *, per: int, name: str) -> Array | None:
    n = cell.given.get(name)
    return np.asarray(float(per * n)) if isinstance(n, int) else None


def _given(cell: Cell, *, name: str) -> float:
    n = cell.given.get(name)
    return float(n) if isinstance(n, int) else math.nan


def others(cell: Cell) -> Iterator[Rule]:
    """Another result, an input, or the right one plus a multiple of one of them."""
    a, b = cell.a, cell.b
    if a is None or b is None:
        return
    yield predicted(1, "is 0 throughout" if b.ndim else "is 0", _zero)
    for source, values in (("others", cell.others), ("given", cell.given)):
        for name, value in values.items():
            other = numbers(value)
            if other is None or other.shape != a.shape or not other.size or not other.any():
                continue
            called = _called(name, source, cell)
            if a.ndim or source == "others":
                same = partial(_other, source=source, name=name, sign=1)
                rank = 11 if "[" in cell.result else 2
                yield predicted(rank, f"is {called}", same)
                yield predicted(
                    3, f"is minus {called}", partial(_other, source=source, name=name, sign=-1)
                )
            if other.shape == b.shape and a.shape == b.shape and b.size > 2:
                yield from _plus(cell, other, source, name)


def _called(name: str, source: str, cell: Cell) -> str:
    if source == "given":
        return f"the input {name}"
    return f"the right {name}" if "[" not in cell.result else f"what {name} should be"


def _other(cell: Cell, *, source: str, name: str, sign: int) -> Array | None:
    value = numbers(getattr(cell, source).get(name))
    return None if value is None else sign * value


def _zero(cell: Cell) -> Array | None:
    return None if cell.b is None else np.zeros_like(cell.b)


def _plus(cell: Cell, other: Array, source: str, name: str) -> Iterator[Rule]:
    a, b = cell.both
    if not (np.isfinite(a).all() and np.isfinite(b).all() and np.isfinite(other).all()):
        return
    at = np.unravel_index(int(np.argmax(np.abs(other))), other.shape)
    k = float((a - b)[at] / other[at])
    k = float(f"{k:.6g}")
    if not k or not math.isfinite(k) or cell.close(other, b) or not cell.close(a, b + k * other):
        return
    what = _called(name, source, cell)
    sign = "plus" if k > 0 else "minus"
    times = f"{sign} {what}" if abs(k) == 1 else f"{sign} {number(abs(k))} times {what}"

    def predict(c: Cell) -> Array | None:
        value = numbers(getattr(c, source).get(name))
        return None if value is None or c.b is None else c.b + k * value

    yield predicted(12, f"is the right one {times}", predict)
    for scale, amount in cell.given.items():  # a step width, say, that is in it too
        if isinstance(amount, float) and amount and scale != name:
            per = float(f"{k / amount:.6g}")
            once = "" if abs(per) == 1 else f"{number(abs(per))} times "
            words = f"{sign} {once}{scale} times {what}"
            predict_scaled = partial(_plus_scaled, source=source, name=name, scale=scale, per=per)
            varies = partial(_float, name=scale)
            yield predicted(13, f"is the right one {words}", predict_scaled, varies=varies)


def _plus_scaled(cell: Cell, *, source: str, name: str, scale: str, per: float) -> Array | None:
    value, amount = numbers(getattr(cell, source).get(name)), _float(cell, name=scale)
    return None if value is None or cell.b is None else cell.b + per * amount * value


def _float(cell: Cell, *, name: str) -> float:
    amount = cell.given.get(name)
    return float(amount) if isinstance(amount, float) else math.nan


def shapes(cell: Cell) -> Iterator[Rule]:
    """A function of the right one, entry by entry."""
    if cell.a is None:
        return
    for text, of in SHAPES.items():

        def predict(c: Cell, of: Callable[[Array], Array] = of) -> Array | None:
            with np.errstate(all="ignore"):
                made = None if c.b is None else np.asarray(of(c.b))
            return made if made is not None and np.isfinite(made).any() else None

        yield predicted(15, text, predict)


def moved(cell: Cell) -> Iterator[Rule]:
    """The right numbers in another order, or the same along an axis."""
    a, b = cell.a, cell.b
    if a is None or b is None or a.shape != b.shape or b.ndim < 1 or b.ndim > 4:
        return
    ndim = b.ndim
    for order in itertools.permutations(range(ndim)):
        if list(order) != sorted(order):
            swapped = [i for i, j in enumerate(order) if i != j]
            words = f"axes {' and '.join(map(str, swapped))} exchanged"
            if len(swapped) > 2:
                words = f"its axes in the order {', '.join(map(str, order))}"
            yield predicted(5, f"has {words}", partial(_transposed, order=order))
    for axis in range(ndim):
        where = "" if ndim == 1 else f" along axis {axis}"
        yield predicted(6, f"is reversed{where}", partial(_flipped, axis=axis))
        for by, words in ((1, "towards the end"), (-1, "towards the start")):
            yield predicted(
                7, f"is shifted by one entry {words}{where}, the last one coming round",
                partial(_rolled, axis=axis, by=by),
            )  # fmt: skip
        if ndim > 1:
            for word, how in (("mean", np.mean), ("sum", np.sum)):
                predict = partial(_spread, axis=axis, how=how)
                yield predicted(
                    8, f"is the {word} of the right one along axis {axis}, repeated", predict
                )
    if ndim > 1:
        yield predicted(
            9, "has the right numbers in the wrong order: it is filled column by column", _columns
        )


def _transposed(cell: Cell, *, order: tuple[int, ...]) -> Array | None:
    b = cell.b
    return b.transpose(order) if b is not None and b.ndim == len(order) else None


def _flipped(cell: Cell, *, axis: int) -> Array | None:
    return None if cell.b is None or cell.b.ndim <= axis else np.flip(cell.b, axis)


def _rolled(cell: Cell, *, axis: int, by: int) -> Array | None:
    return None if cell.b is None or cell.b.ndim <= axis else np.roll(cell.b, by, axis)


def _spread(cell: Cell, *, axis: int, how: Callable[..., Array]) -> Array | None:
    b = cell.b
    if b is None or b.ndim <= axis or not b.shape[axis]:
        return None
    return np.broadcast_to(how(b, axis=axis, keepdims=True), b.shape)


def _columns(cell: Cell) -> Array | None:
    return None if cell.b is None else cell.b.ravel().reshape(cell.b.shape, order="F")


PROPOSALS = (others, factors, rates, shapes, moved)
