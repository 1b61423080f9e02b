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
from grader.model.numerals import shape_text
from grader.model.spec import Mention, Name, Show, TolerantCheck

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
        np, values = api.np, evaluation.observed(check.run, case).values
        numeric = _differences(evaluation, check, case)
        for wrt, name in check.gradients.items():
            want, error = (np.asarray(numeric[wrt][key], np.float64) for key in ("value", "error"))
            got = floats(values.get(name))
            if got is None or got.shape != want.shape:
                found, wanted = api.describe(values.get(name)), shape_text(want.shape)
                return api.Finding(
                    f"{name} is {found}, expected floats of shape {wanted} (case {case.name})"
                )
            scale = api.largest(want)
            floor = api.least(case.dtype, scale, api.entered(evaluation, check.run, case, name))
            allowed = np.maximum(RELATIVE * scale + ESTIMATES * error, floor)
            tolerance = (
                check.tolerance if check.tolerance and check.tolerance.covers(name) else None
            )
            if tolerance is not None:
                allowed = np.maximum(allowed, api.tolerated(tolerance, want))
            with np.errstate(invalid="ignore"):  # at -inf there is no difference
                wrong = np.isfinite(want) & ~(np.abs(got - want) <= allowed)
            fault = api.explained(api.report(name, got, want, wrong, allowed), tolerance)
            if fault is not None:
                count = f"{fault.wrong} of {fault.total} entries"
                return api.Finding(
                    f"{name} disagrees with differences of the forward in {count}",
                    mismatch=fault.mismatch(case.name),
                    exhibit=api.grids(evaluation, case, fault, Show(), check.run),
                    subject=name,
                )
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
