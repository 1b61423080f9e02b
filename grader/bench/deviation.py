"""What a result should be, and how far another is from it, as a share of what is allowed."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from grader.bench.bench import Bench
from grader.bench.compare import RELATIVE_BF16, Expected, Fault, allowance, compare
from grader.bench.encoding import NATIVE, NUDGES, PRECISE
from grader.bench.results import array_of, dtype_of, real_parts
from grader.cases.draw import Array
from grader.cases.recipe import CaseRecipe
from grader.sandbox.replies import Outcome
from grader.sandbox.worker.wire import Tensor


def expected(
    bench: Bench, run: str, case: CaseRecipe, result: str, *, draw_index: int = 0
) -> Expected:
    """What the reference says a result is, with the means to find how far rounding may move it."""

    def right(mode: str) -> Any:  # noqa: ANN401 any result
        return bench.truth(run, case, draw_index=draw_index, mode=mode).values[result]

    precise = right(NATIVE if case.dtype == "float64" else PRECISE)
    return Expected(right(NATIVE), precise, lambda: [right(mode) for mode in NUDGES], case.dtype)


def fault_of(
    bench: Bench,
    run: str,
    case: CaseRecipe,
    result: str,
    outcome: Outcome,
    *,
    draw_index: int = 0,
    exact: bool = False,
    zeros: bool = False,
) -> Fault | None:
    """How a result differs from the reference's, if it does; see `compare`."""
    wanted = expected(bench, run, case, result, draw_index=draw_index)
    return compare(result, outcome.values.get(result), wanted, exact=exact, zeros=zeros)


def excess(observed: Any, wanted: Expected) -> float:  # noqa: ANN401 any result
    """The worst deviation of a result over what is allowed; infinity for anything but numbers."""
    return max((_part(o, w) for o, w in _leaves(observed, wanted)), default=0.0)


def _leaves(observed: Any, wanted: Expected) -> Iterator[tuple[Any, Expected]]:  # noqa: ANN401
    native = wanted.native
    if isinstance(native, dict):
        for key in native:
            inner = observed.get(key) if isinstance(observed, dict) else None
            yield from _leaves(inner, wanted.part(key))
    elif isinstance(native, (list, tuple)):
        alike = isinstance(observed, (list, tuple)) and len(observed) == len(native)
        for i in range(len(native)):
            yield from _leaves(observed[i] if alike else None, wanted.part(i))
    else:
        yield observed, wanted


def _part(observed: Any, wanted: Expected) -> float:  # noqa: ANN401 any result
    native = wanted.native
    dtype = dtype_of(native) if isinstance(native, (np.ndarray, Tensor)) else wanted.dtype
    got, want = _floats(observed), _floats(wanted.precise)
    if got is None or want is None or _floats(native) is None:
        same = observed is None if native is None else bool(np.array_equal(observed, native))
        return 0.0 if same else math.inf
    finite = np.isfinite(want)
    if (
        got.shape != want.shape
        or not np.array_equal(got[~finite], want[~finite], equal_nan=True)
        or not np.isfinite(got[finite]).all()
    ):
        return math.inf
    deviation = np.abs(got[finite] - want[finite])
    if not deviation.any():
        return 0.0
    if dtype == "bfloat16":
        allowed = RELATIVE_BF16 * float(np.linalg.norm(want[finite]))
        return _ratio(float(np.linalg.norm(deviation)), allowed)
    moved = [m for m in (_floats(v) for v in wanted.moved()) if m is not None]
    return _ratio(float(deviation.max()), allowance(dtype, want, lambda: moved))


def _ratio(deviation: float, allowed: float) -> float:
    return deviation / allowed if allowed > 0 else math.inf


def _floats(value: Any) -> Array | None:  # noqa: ANN401 any result
    """The real numbers in a result as float64, two of them for a complex one."""
    if isinstance(value, (float, np.floating, np.ndarray, Tensor)):
        array = real_parts(array_of(value))
        if array.dtype.kind == "f":
            return np.asarray(array, np.float64)
    return None
