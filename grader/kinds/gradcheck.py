"""Check `gradcheck`: gradients agree with numerical differences.

The differences are taken of the *reference's* forward: a forward that is wrong in the same way as
its backward cannot vouch for itself.  Where the function has kinks (a maximum), inputs keep their
distance from them and the step stays below it; at a tie no difference exists, and a check of kind
`conservation` says what holds instead.

Tolerance: 1e-7 of the largest gradient plus 20 times the estimated error of the difference itself,
and no less than what rounding may leave of the numbers that it is computed from.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Literal, TypeAlias

from pydantic import Field

from grader.cases.dataflow import free_names, producing
from grader.kinds.base import Kind, api
from grader.kinds.conservation import RELATIVE, floats
from grader.model.keys import Mention, Name, Show, TolerantCheck
from grader.model.numerals import shape_text

ESTIMATES = 20.0

Numeric: TypeAlias = "Mapping[str, api.Array]"  # `value`, and `error`, the estimated one of it


class GradcheckCheck(TolerantCheck):
    """Gradients agree with differences of the reference's forward."""

    kind: Literal["gradcheck"]
    loss: Name = Field(
        description="The result that is differentiated, numerically, in the reference."
    )
    cotangent: Name | None = Field(
        default=None,
        description="The input that the loss is contracted with, where it is an array.",
    )
    gradients: dict[Name, Name] = Field(
        description="By input, the result that should be its gradient."
    )
    kinks: bool = Field(
        default=False,
        description="Whether the loss has kinks, as a maximum has: steps then stay below a quarter "
        "of the smallest gap between two values of an input.",
    )

    @property
    def wanted(self) -> tuple[str, ...]:
        return (self.loss, *self.gradients.values())

    @property
    def compared(self) -> tuple[str, ...]:
        return tuple(self.gradients.values())

    def mentions(self) -> Iterator[Mention]:
        yield from super().mentions()
        for name in self.gradients:
            yield Mention(("gradients", name), name, "input")
        if self.cotangent is not None:
            yield Mention(("cotangent",), self.cotangent, "input")
        yield Mention(("loss",), self.loss, "result")
        for name, gradient in self.gradients.items():
            yield Mention(("gradients", name), gradient, "result")

    def lacks(self) -> str:
        return "" if self.gradients else "gradients"


class Gradcheck(Kind[GradcheckCheck]):
    """Compare every gradient of the check on every case."""

    keys = GradcheckCheck
    judges_values = True

    def judge(
        self, evaluation: api.Evaluation, check: GradcheckCheck, case: api.Case
    ) -> api.Finding | None:
        values = evaluation.observed(check.run, case).values
        numeric = _differences(evaluation, check, case)
        for wrt, name in check.gradients.items():
            allowed = _allowed(evaluation, check, case, name, numeric[wrt])
            given = values.get(name)
            if found := _compare(evaluation, check, case, name, given, numeric[wrt], allowed):
                return found
        return None


def _differences(
    evaluation: api.Evaluation, check: GradcheckCheck, case: api.Case
) -> Mapping[str, Numeric]:
    """Numerical gradients of <cotangent, loss> by input; measured once."""

    def measured() -> Mapping[str, Numeric]:
        steps = producing(evaluation.steps(check.run), check.loss)
        every = evaluation.inputs(case, check.run, mode=api.PRECISE)
        cotangent = None
        if check.cotangent is not None:
            cotangent = api.array_of(evaluation.drawn(case)[check.cotangent]).astype(api.np.float64)
        with api.blame_bank(f"the reference cannot be differentiated on case {case.name}"):
            return evaluation.reference.gradients(
                steps,
                {name: every[name] for name in free_names(steps)},
                wrt=list(check.gradients),
                of=check.loss,
                cotangent=cotangent,
                kinks=check.kinks,
            )

    return evaluation.fact(("differences", check.id, case.name), measured)


def _allowed(
    evaluation: api.Evaluation, check: GradcheckCheck, case: api.Case, name: str, numeric: Numeric
) -> api.Array:
    """What a gradient may be off by, entry by entry."""
    np, value = api.np, api.np.asarray(numeric["value"], api.np.float64)
    scale = api.largest(value)
    floor = api.least(case.dtype, scale, api.entered(evaluation, check.run, case, name))
    allowed = np.maximum(RELATIVE * scale + ESTIMATES * np.asarray(numeric["error"]), floor)
    if check.tolerance is not None and check.tolerance.covers(name):
        allowed = np.maximum(allowed, api.tolerated(check.tolerance, value))
    return np.asarray(allowed)


def _deviations(got: api.Array | None, numeric: Numeric, allowed: api.Array) -> api.Array | None:
    """What each entry is off by over what it may be; None for a gradient of another shape."""
    np = api.np
    value = numeric["value"]
    if got is None or got.shape != value.shape:
        return None
    with np.errstate(divide="ignore", invalid="ignore"):
        off = np.abs(got - value)
        ratios = np.where(off == 0, 0.0, off / allowed)
    ratios = np.where(np.isnan(ratios), np.inf, ratios)
    return np.where(np.isfinite(value), ratios, 0.0)  # at -inf there is no difference


def _compare(
    evaluation: api.Evaluation,
    check: GradcheckCheck,
    case: api.Case,
    name: str,
    observed: api.Value,
    numeric: Numeric,
    allowed: api.Array,
) -> api.Finding | None:
    got, value = floats(observed), numeric["value"]
    entries = _deviations(got, numeric, allowed)
    if got is None or entries is None:
        found, wanted = api.describe(observed), f"floats of shape {shape_text(value.shape)}"
        return api.Finding(f"{name} is {found}, expected {wanted} (case {case.name})")
    tolerance = check.tolerance if check.tolerance and check.tolerance.covers(name) else None
    fault = api.explained(api.report(name, got, value, entries > 1, allowed), tolerance)
    if fault is None:
        return None
    count = f"{fault.wrong} of {fault.total} entries"
    return api.Finding(
        f"{name} disagrees with differences of the forward in {count}",
        mismatch=fault.mismatch(case.name),
        exhibit=api.grids(evaluation, case, fault, Show(), check.run),
        subject=name,
    )
