"""Decide whether a result agrees with the reference, and say where it does not.

Order: type, shape, dtype, finiteness, values.  Values agree norm-wise: the worst deviation is held
against the largest expected magnitude, never an entry against itself (an element-wise relative
error rejects right gradients wherever the true value is near zero).  The band:

- float64: 1e-10, or 16 times what moving the inputs by one unit in the last place does to the
  reference, whichever is more.  float32 arithmetic on float64 inputs is off by 1e-8 and more.
- float32: 16 times (that effect, in float32's last place, plus 4 units in the last place).
- bfloat16: 3e-2 in the Euclidean norm.

The expected values of float32 and bfloat16 cases are computed by the reference in float64 on the
rounded inputs, so an answer more accurate than the reference's own dtype is never wrong.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from grader.bench.results import describe, dict_keys, dtype_of, real_parts, values_of
from grader.cases.draw import Array
from grader.model.numerals import band, number, numbers_apart, shape_text
from grader.sandbox.worker.wire import Tensor

RELATIVE_64 = 1e-10
RELATIVE_BF16 = 3e-2
SAFETY = 16.0  # right code measured up to 3.6 units of the rounding effect over ten workloads
ULPS = 4.0


@dataclass(frozen=True, slots=True)
class Fault:
    """One result that does not agree on one case."""

    result: str
    sentence: str  # "grad_x differs in 3 of 9 entries"
    kind: str  # type, dtype, shape, nonfinite, values
    observed: str
    expected: str
    allowed: str | None = None
    index: tuple[int, ...] | None = None
    wrong: int = 0
    total: int = 0
    arrays: tuple[Array, Array, Array] | None = None  # observed, expected, which are wrong


@dataclass(frozen=True, slots=True)
class Expected:
    """What a result should be."""

    native: Any  # in the case's dtypes: type, dtype and shape
    precise: Any  # in float64: values
    moved: Callable[
        [], list[Any]
    ]  # the precise value after nudging the inputs; called when it matters
    dtype: str = "float64"  # of the case: what a scalar, which has no dtype of its own, is held to

    def part(self, key: str | int) -> Expected:
        """What an item of a container should be."""
        return Expected(
            self.native[key], self.precise[key], lambda: [m[key] for m in self.moved()], self.dtype
        )


def compare(
    result: str,
    observed: Any,  # noqa: ANN401 any result
    expected: Expected,
    *,
    exact: bool = False,
    zeros: bool = False,
) -> Fault | None:
    """Return the first fault of a result, or None when it agrees.

    Args:
        result: its name.
        observed: what the submission gave, as decoded from the wire.
        expected: what the reference gave.
        exact: values must be equal.
        zeros: values must be exactly zero wherever the expected ones are.
    """
    return next(_faults(result, observed, expected, exact=exact, zeros=zeros), None)


def _faults(
    result: str,
    observed: Any,  # noqa: ANN401 any result
    expected: Expected,
    *,
    exact: bool,
    zeros: bool,
) -> Iterator[Fault]:
    native = expected.native
    if isinstance(native, dict):
        if not isinstance(observed, dict) or observed.keys() != native.keys():
            yield _of_type(
                result, observed, f"a dict with {', '.join(native)}", dict_keys(observed)
            )
            return
        for key in native:
            yield from _faults(
                f"{result}[{key!r}]", observed[key], expected.part(key), exact=exact, zeros=zeros
            )
    elif isinstance(native, (list, tuple)):
        if not isinstance(observed, (list, tuple)) or len(observed) != len(native):
            yield _of_type(result, observed, f"a {type(native).__name__} of {len(native)}")
            return
        for i in range(len(native)):
            yield from _faults(
                f"{result}[{i}]", observed[i], expected.part(i), exact=exact, zeros=zeros
            )
    elif isinstance(native, (np.ndarray, Tensor)):
        yield from _array(result, observed, expected, exact=exact, zeros=zeros)
    else:
        yield from _scalar(result, observed, expected, exact=exact)


def _array(
    result: str,
    observed: Any,  # noqa: ANN401 any result
    expected: Expected,
    *,
    exact: bool,
    zeros: bool,
) -> Iterator[Fault]:
    native = expected.native
    if type(observed) is not type(native) and not (
        isinstance(observed, np.generic) and isinstance(native, np.ndarray) and native.ndim == 0
    ):
        yield _of_type(result, observed, describe(native))
        return
    got, want = values_of(observed), values_of(native)
    found, wanted = dtype_of(observed), dtype_of(native)
    if got.shape != want.shape:
        has, needs = shape_text(got.shape), shape_text(want.shape)
        yield Fault(result, f"{result} has shape {has}, expected {needs}", "shape", has, needs)
        return
    if found != wanted:
        yield Fault(result, f"{result} is {found}, expected {wanted}", "dtype", found, wanted)
        return
    precise = values_of(expected.precise)
    if got.dtype.kind == "c":  # both parts count: compare them as two numbers
        wanted = "float32" if wanted == "complex64" else "float64"
        got, want, precise = (real_parts(a) for a in (got, want, precise))
    if got.dtype.kind == "f" and (fault := _nonfinite(result, got, want)) is not None:
        yield fault
    elif got.dtype.kind != "f" or exact:
        yield from _report(result, got, want, ~_equal(got, want), None)
    else:
        yield from _numbers(result, got, precise, wanted, expected, zeros=zeros)


def _nonfinite(result: str, got: Array, want: Array) -> Fault | None:
    """NaN or infinity where a number is expected, or the other way round."""
    odd = np.where(np.isfinite(want), ~np.isfinite(got), ~_equal(got, want))
    if not odd.any():
        return None
    index = _first(odd)
    fault = next(_report(result, got, want, odd, None, index))
    found, wanted = number(float(got[index])), number(float(want[index]))
    sentence = f"{result} holds {found} where {wanted} is expected"
    return replace(fault, sentence=sentence, kind="nonfinite")


def _numbers(
    result: str, got: Array, want: Array, dtype: str, expected: Expected, *, zeros: bool
) -> Iterator[Fault]:
    got, want = real_parts(got).astype(np.float64), real_parts(want).astype(np.float64)
    finite = np.isfinite(want)
    if (fault := _nonfinite(result, got, want)) is not None:
        yield fault
        return
    if not finite.any():
        return
    deviation = np.where(finite, np.abs(np.where(finite, got - np.where(finite, want, 0), 0)), 0)
    if dtype == "bfloat16":
        norm = float(np.linalg.norm(want[finite]))
        nonzero = (want == 0) & (got != 0) if zeros else np.zeros(want.shape, bool)
        if nonzero.any():
            yield from _report(result, got, want, nonzero, None)
        elif float(np.linalg.norm(deviation)) > RELATIVE_BF16 * norm:
            allowed = RELATIVE_BF16 * norm / math.sqrt(max(1, int(finite.sum())))
            yield from _report(result, got, want, deviation > allowed, allowed)
        return
    allowed = allowance(
        dtype,
        want,
        lambda: [real_parts(values_of(m)).astype(np.float64) for m in expected.moved()],
        deviation,
    )
    wrong = deviation > allowed
    if zeros:
        wrong |= (want == 0) & (got != 0)
    if wrong.any():
        yield from _report(result, got, want, wrong, allowed)


def allowance(
    dtype: str, want: Array, moved: Callable[[], list[Array]], deviation: Array | None = None
) -> float:
    """The width of the band around the expected values.

    Args:
        dtype: of the case: float64 or float32.
        want: expected values, float64.
        moved: gives the expected values after nudging the inputs; costly, so called when needed.
        deviation: absolute, from the expected values; when it is small enough, nothing more is
            measured.
    """
    finite = np.isfinite(want)
    scale = float(np.abs(want[finite]).max(initial=0.0))
    epsilon = float(np.finfo(np.float32 if dtype == "float32" else np.float64).eps)
    floor = SAFETY * ULPS * epsilon * scale
    if dtype != "float32":
        floor = max(floor, RELATIVE_64 * scale)
    if deviation is not None and float(deviation.max(initial=0.0)) <= floor:
        return floor
    effect = 0.0
    for other in moved():
        both = finite & np.isfinite(other)
        effect = max(effect, float(np.abs(other - want)[both].max(initial=0.0)))
    return max(floor, SAFETY * (effect + ULPS * epsilon * scale))


def _scalar(result: str, observed: Any, expected: Expected, *, exact: bool) -> Iterator[Fault]:  # noqa: ANN401
    native = expected.native
    if native is None or isinstance(native, (str, bool, np.bool_)):
        plain = bool(observed) if isinstance(observed, np.bool_) else observed
        wanted = bool(native) if isinstance(native, np.bool_) else native
        if type(plain) is not type(wanted) or plain != wanted:
            yield _of_type(result, observed, describe(native))
        return
    if isinstance(observed, np.ndarray) and observed.ndim == 0:
        observed = observed[()]
    if isinstance(observed, Tensor) and observed.values.ndim == 0:
        observed = observed.values[()]
    if isinstance(observed, (bool, np.bool_)) or not isinstance(
        observed, (int, float, np.integer, np.floating)
    ):
        yield _of_type(result, observed, describe(native))
        return
    if isinstance(native, (int, np.integer)):
        if observed != native:  # integers and integral floats alike; exact at any size
            yield _different(
                result,
                observed.item() if isinstance(observed, np.generic) else observed,
                int(native),
                None,
            )
        return
    got, want = float(observed), float(expected.precise)
    if not math.isfinite(got) or not math.isfinite(want):
        if not (got == want or (math.isnan(got) and math.isnan(want))):
            yield Fault(
                result,
                f"{result} is {number(got)}, expected {number(want)}",
                "nonfinite",
                number(got),
                number(want),
            )
        return
    if expected.dtype == "bfloat16":
        if abs(got - want) > RELATIVE_BF16 * abs(want):
            yield _different(result, got, want, RELATIVE_BF16 * abs(want))
        return
    off = abs(got - want)
    allowed = 0.0
    if not exact:
        allowed = allowance(
            expected.dtype,
            np.asarray(want),
            lambda: [np.asarray(float(m)) for m in expected.moved()],
            np.asarray(off),
        )
    if off > allowed:
        yield _different(result, got, want, allowed or None)


def _different(result: str, observed: float, expected: float, allowed: float | None) -> Fault:
    got, want = numbers_apart(observed, expected)
    return Fault(
        result, f"{result} is {got}, expected {want}", "values", got, want,
        None if allowed is None else band(allowed), None, 1, 1,
    )  # fmt: skip


def _report(
    result: str,
    got: Array,
    want: Array,
    wrong: Array,
    allowed: float | None,
    at: tuple[int, ...] | None = None,
) -> Iterator[Fault]:
    """A fault about the entries that are wrong, if any; it points at the worst."""
    count = int(wrong.sum())
    if not count:
        return
    if at is None:
        with np.errstate(all="ignore"):
            size = np.where(wrong, np.abs(got.astype(np.float64) - want.astype(np.float64)), -1.0)
        at = _index(int(np.nanargmax(np.where(np.isnan(size), np.inf, size))), wrong.shape)
    observed, expected = numbers_apart(got[at], want[at])
    entries = "entries" if wrong.size != 1 else "entry"
    yield Fault(
        result, f"{result} differs in {count:,} of {wrong.size:,} {entries}", "values",
        observed, expected, None if allowed is None else band(allowed), at, count,
        int(wrong.size), (got, want, wrong),
    )  # fmt: skip


def _equal(a: Array, b: Array) -> Array:
    with np.errstate(invalid="ignore"):
        same = a == b
        if a.dtype.kind in "fc":
            same = same | (np.isnan(a) & np.isnan(b))
    return np.asarray(same)


def _first(mask: Array) -> tuple[int, ...]:
    return _index(int(np.argmax(mask)), mask.shape)


def _index(flat: int, shape: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(int(i) for i in np.unravel_index(flat, shape)) if shape else ()


def _of_type(result: str, observed: Any, expected: str, note: str = "") -> Fault:  # noqa: ANN401
    found = describe(observed)
    return Fault(result, f"{result} is {found}{note}, expected {expected}", "type", found, expected)
