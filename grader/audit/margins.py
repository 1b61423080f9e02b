"""How far is each tolerance from right programs, and how far from wrong ones?

Both are measured as the worst deviation over what is allowed, and shown as its logarithm.  Right
programs are the reference on inputs moved by one unit in the last place, the reference in the
case's own dtype, and its gradients against differences.  The wrong one is the variant that a
check stops by its values and that comes closest to passing: a wrong shape or a NaN needs no
tolerance, and does not count.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from grader.bench.bench import BankFault, Bench, array_of
from grader.bench.compare import RELATIVE_BF16, Expected, allowance
from grader.cases.draw import Array
from grader.cases.recipe import CaseRecipe
from grader.kinds.curve import series
from grader.kinds.gradcheck import ESTIMATES, RELATIVE, differences
from grader.kinds.outputs import expected
from grader.model import spec as model
from grader.model.audit import Margin, Remark
from grader.sandbox.client import WorkerError
from grader.sandbox.replies import ProgramError
from grader.sandbox.worker.wire import Tensor

NARROW = 2.0  # orders of magnitude between right and wrong below which a tolerance is in doubt


def has_tolerance(check: model.AnyCheck) -> bool:
    """Whether a check allows a deviation at all."""
    match check:
        case model.OutputsCheck():
            return not check.exact
        case model.GradcheckCheck():
            return bool(check.gradients)
        case model.CurveCheck():
            return check.ends_below is not None and check.ends_below > 0
        case _:
            return False


def right(bench: Bench, check: model.AnyCheck) -> float:
    """The worst deviation of right programs over what is allowed; 0 where none deviates.

    Args:
        bench: any program's; the reference's side of it is measured.
        check: one that has a tolerance.
    """
    reference = bench.with_submission(bench.reference)
    worst = 0.0
    for case in bench.cases_of(check):
        match check:
            case model.OutputsCheck():
                for name in check.results:
                    want = expected(bench, check.run, case, name)
                    others = want.moved() if case.dtype == "float64" else []
                    worst = max(worst, *(excess(other, want) for other in [want.native, *others]))
            case _:
                worst = max(worst, _of_case(reference, check, case))
    return worst if math.isfinite(worst) else 0.0


def wrong(bench: Bench, check: model.AnyCheck) -> float:
    """The worst deviation of the bench's submission; infinity where no tolerance is in question.

    Args:
        bench: with a program that the check does not pass.
        check: one that has a tolerance.
    """
    try:
        return max((_of_case(bench, check, c) for c in bench.cases_of(check)), default=math.inf)
    except (ProgramError, WorkerError, BankFault):
        return math.inf


def _of_case(bench: Bench, check: model.AnyCheck, case: CaseRecipe) -> float:
    values = bench.observed(check.run, case).values
    match check:
        case model.OutputsCheck():
            return max(
                excess(values.get(name), expected(bench, check.run, case, name))
                for name in check.results
            )
        case model.GradcheckCheck():
            numeric = bench.fact(
                ("differences", check.id, case.name), lambda: differences(bench, check, case)
            )
            return max(
                _off_slope(values.get(gradient), **numeric[wrt])
                for wrt, gradient in check.gradients.items()
            )
        case model.CurveCheck() if check.ends_below:
            points = series(values.get(check.of))
            return abs(points[-1]) / check.ends_below if points else math.inf
        case _:
            return math.inf


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
    dtype = _dtype(native) if isinstance(native, (np.ndarray, Tensor)) else wanted.dtype
    got, want = _floats(observed), _floats(wanted.precise)
    if got is None or want is None or _floats(native) is None:
        same = observed is None if native is None else bool(np.array_equal(observed, native))
        return 0.0 if same else math.inf
    if got.shape != want.shape or not bool(
        np.array_equal(got[~np.isfinite(want)], want[~np.isfinite(want)], equal_nan=True)
    ):
        return math.inf
    finite = np.isfinite(want)
    if not bool(np.isfinite(got[finite]).all()):
        return math.inf
    deviation = np.abs(got[finite] - want[finite])
    if not deviation.any():
        return 0.0
    if dtype == "bfloat16":
        allowed = RELATIVE_BF16 * float(np.linalg.norm(want[finite]))
        return _ratio(float(np.linalg.norm(deviation)), allowed)
    moved = [m for m in (_floats(v) for v in wanted.moved()) if m is not None]
    return _ratio(float(deviation.max()), allowance(dtype, want, lambda: moved))


def _off_slope(observed: Any, value: Array, error: Array) -> float:  # noqa: ANN401 any result
    got = _floats(observed)
    if got is None or got.shape != value.shape:
        return math.inf
    known = np.isfinite(value)
    scale = float(np.abs(value[known]).max(initial=0.0))
    allowed = (RELATIVE * scale + ESTIMATES * np.asarray(error))[known]
    off = np.abs(got - value)[known]
    if not bool(np.isfinite(off).all()):
        return math.inf
    ratios = np.divide(off, allowed, out=np.full(off.shape, np.inf), where=allowed > 0)
    return float(np.where(off == 0, 0.0, ratios).max(initial=0.0))


def _ratio(deviation: float, allowed: float) -> float:
    if deviation == 0:
        return 0.0
    return deviation / allowed if allowed > 0 else math.inf


def _dtype(value: Any) -> str:  # noqa: ANN401 an array or a tensor
    return value.dtype if isinstance(value, Tensor) else str(value.dtype.name)


def _floats(value: Any) -> Array | None:  # noqa: ANN401 any result
    """The real numbers in a result as float64, two of them for a complex one."""
    if isinstance(value, (float, np.floating, np.ndarray, Tensor)):
        array = array_of(value)
        if array.dtype.kind == "c":
            array = np.stack([array.real, array.imag], axis=-1)
        if array.dtype.kind == "f":
            return np.asarray(array, np.float64)
    return None


def margin(rights: Sequence[float], wrongs: Sequence[tuple[float, str]]) -> Margin:
    """What a check's measurements over all seeds come to."""
    worst = max(rights, default=0.0)
    closest = min((w for w in wrongs if math.isfinite(w[0])), default=None)
    return Margin(
        right=round(math.log10(worst), 2) if worst > 0 else None,
        # A check may stop a program by a law besides its tolerance.
        wrong=None if closest is None or closest[0] <= 1 else round(math.log10(closest[0]), 2),
        closest="" if closest is None or closest[0] <= 1 else closest[1],
    )


def remarks(margins: Sequence[tuple[str, Margin]]) -> list[Remark]:
    """Tolerances with too little room on both sides together."""
    return [
        Remark(
            "tolerance",
            f"{check}: only {m.gap:.1f} orders of magnitude lie between right programs and "
            f"{m.closest}, the closest wrong one; choose cases on which it is further off",
        )
        for check, m in margins
        if m.gap is not None and m.gap < NARROW
    ]
