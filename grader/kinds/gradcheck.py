"""Check `gradcheck`: gradients agree with numerical differences, and conserve what they must.

The differences are taken of the *reference's* forward: a forward that is wrong in the same way as
its backward cannot vouch for itself.  Where the function has kinks (a maximum), inputs keep their
distance from them and the step stays below it; at a tie no difference exists, and the conservation
laws hold instead.

Tolerance: 1e-7 of the largest gradient plus 20 times the estimated error of the difference itself.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from grader.bank.consistency import free_names
from grader.bench.bench import PRECISE, BankFault, Bench, array_of, producing, trusting
from grader.bench.compare import Fault
from grader.bench.exhibit import grids, mismatch
from grader.bench.results import describe
from grader.bench.tally import Finding, tally
from grader.cases.draw import Array
from grader.cases.recipe import CaseRecipe
from grader.model.numerals import band, number, numbers_apart, shape_text
from grader.model.report import CheckResult
from grader.model.spec import Conserved, GradcheckCheck, Show

RELATIVE = 1e-7
ESTIMATES = 20.0


def check_gradients(bench: Bench, check: GradcheckCheck) -> CheckResult:
    """Compare every gradient of the check on every case, then the conservation laws."""

    def judge(case: CaseRecipe) -> Finding | None:
        values = bench.observed(check.run, case).values
        numeric = bench.fact(
            ("differences", check.id, case.name), lambda: differences(bench, check, case)
        )
        for wrt, gradient in check.gradients.items():
            found = _compare(bench, case, gradient, values.get(gradient), numeric[wrt])
            if found is not None:
                return found
        for law in check.conserves:
            found = _conserved(bench, check.run, case, law, values)
            if found is not None:
                return found
        return None

    return tally(bench, check, judge)


def differences(
    bench: Bench, check: GradcheckCheck, case: CaseRecipe
) -> dict[str, dict[str, Array]]:
    """Numerical gradients of <cotangent, loss> by input, from the reference's forward."""
    steps = producing(bench.steps(check.run), check.loss)
    every = bench.inputs(case, check.run, mode=PRECISE)
    inputs = {name: every[name] for name in free_names(steps)}
    cotangent = None
    if check.cotangent is not None:
        cotangent = array_of(bench.drawn(case)[check.cotangent]).astype(np.float64)
    with trusting(f"the reference cannot be differentiated on case {case.name}"):
        found: Any = bench.reference.gradients(
            steps,
            inputs,
            wrt=list(check.gradients),
            result=check.loss,
            cotangent=cotangent,
            kinks=check.kinks,
        )
    return dict(found)


def _compare(
    bench: Bench,
    case: CaseRecipe,
    name: str,
    observed: Any,  # noqa: ANN401 any result
    numeric: dict[str, Array],
) -> Finding | None:
    want, error = numeric["value"], numeric["error"]
    got = _array(observed)
    if got is None or got.shape != want.shape:
        found = describe(observed)
        wanted = f"floats of shape {shape_text(want.shape)}"
        return Finding(f"{name} is {found}, expected {wanted} (case {case.name})")
    known = np.isfinite(want)  # entries at -inf have no difference
    scale = float(np.abs(want[known]).max(initial=0.0))
    allowed = RELATIVE * scale + ESTIMATES * error
    with np.errstate(invalid="ignore"):
        wrong = known & ~(np.abs(got - want) <= allowed)  # not <=: NaN disagrees
    if not wrong.any():
        return None
    size = np.where(wrong, np.nan_to_num(np.abs(got - want), nan=np.inf), -1.0)
    index = tuple(int(i) for i in np.unravel_index(int(np.argmax(size)), wrong.shape))
    mine, theirs = numbers_apart(got[index], want[index])
    count, total = int(wrong.sum()), int(wrong.size)
    fault = Fault(
        name,
        f"{name} disagrees with differences of the forward in {count} of {total} entries",
        "values", mine, theirs, band(float(allowed[index])), index, count, total,
        (got, want, wrong),
    )  # fmt: skip
    return Finding(
        fault.sentence,
        mismatch=mismatch(fault, case),
        exhibit=grids(bench, case, fault, Show()),
        subject=name,
    )


def _array(value: Any) -> Array | None:  # noqa: ANN401 any result
    values = getattr(value, "values", value)
    if isinstance(values, (np.ndarray, np.generic, float)) and np.asarray(values).dtype.kind == "f":
        return np.asarray(values, np.float64)
    return None


def _conserved(
    bench: Bench,
    run: str,
    case: CaseRecipe,
    law: Conserved,
    values: Any,  # noqa: ANN401 results by name
) -> Finding | None:
    got = _array(values.get(law.sum))
    if got is None:
        found = describe(values.get(law.sum))
        return Finding(f"{law.sum} is {found}, expected floats (case {case.name})")
    axes = tuple(law.over)
    shape = array_of(bench.truth(run, case).values[law.sum]).shape
    if any(not -len(shape) <= axis < len(shape) for axis in axes):
        raise BankFault(f"{law.sum} of shape {shape_text(shape)} has no axes {list(axes)}")
    if got.shape != shape:
        mine, theirs = shape_text(got.shape), shape_text(shape)
        return Finding(f"{law.sum} has shape {mine}, expected {theirs} (case {case.name})")
    if not np.isfinite(got).all():
        return Finding(f"{law.sum} holds NaN or infinity (case {case.name})")
    if isinstance(law.equals, str):
        other = bench.drawn(case).get(law.equals)
        if other is None:
            other = array_of(bench.truth(run, case).values[law.equals])
        want = np.asarray(other, np.float64).sum(axis=axes)
        what = f"the sum of {law.equals}"
    else:
        want = np.full(got.sum(axis=axes).shape, float(law.equals))
        what = number(float(law.equals))
    mine = got.sum(axis=axes)
    if mine.shape != want.shape:
        raise BankFault(f"the sums of {law.sum} and {what} over {list(axes)} differ in shape")
    scale = float(np.abs(got).sum(axis=axes).max(initial=0.0)) + float(
        np.abs(want).max(initial=0.0)
    )
    epsilon = {"float32": 2.0**-23, "bfloat16": 2.0**-7}.get(case.dtype, 2.0**-52)
    allowed = max(RELATIVE if case.dtype == "float64" else 0.0, 64 * epsilon) * scale
    off = np.abs(mine - want)
    if bool((off <= allowed).all()):
        return None
    at = tuple(
        int(i)
        for i in np.unravel_index(int(np.nanargmax(np.nan_to_num(off, nan=np.inf))), off.shape)
    )
    place = f" at {list(at)}" if at else ""
    return Finding(
        f"{law.sum} summed over axes {list(axes)} is {number(float(mine[at]))}, expected {what}, "
        f"{number(float(want[at]))}{place} in case {case.name}"
    )
