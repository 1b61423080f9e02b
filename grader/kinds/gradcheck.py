"""Check `gradcheck`: gradients agree with numerical differences, and conserve what they must.

The differences are taken of the *reference's* forward: a forward that is wrong in the same way as
its backward cannot vouch for itself.  Where the function has kinks (a maximum), inputs keep their
distance from them and the step stays below it; at a tie no difference exists, and the conservation
laws hold instead.

Tolerance: 1e-7 of the largest gradient plus 20 times the estimated error of the difference itself.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field

from grader.cases.dataflow import free_names, producing
from grader.kinds.base import Kind
from grader.model.numerals import band, number, numbers_apart, shape_text
from grader.model.spec import Check, Mention, Name, Part, Show

if TYPE_CHECKING:
    from grader.bench.bench import Bench
    from grader.bench.tally import Finding
    from grader.cases.draw import Array
    from grader.cases.recipe import CaseRecipe
    from grader.model.report import CheckResult

RELATIVE = 1e-7
ESTIMATES = 20.0


class Conserved(Part):
    """A sum of a gradient that must equal something known."""

    sum: Name = Field(description="The gradient that is added up.")
    over: list[int] = Field(description="Along these axes.")
    equals: Name | int | float = Field(
        description="An input or a result whose sum along the same axes it must equal, or a number."
    )


class GradcheckCheck(Check):
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
    conserves: list[Conserved] = Field(
        default=[], description="Sums of gradients that must equal something known."
    )

    @property
    def wanted(self) -> tuple[str, ...]:
        """The loss and everything that is compared or added up."""
        return (self.loss, *self.gradients.values(), *(law.sum for law in self.conserves))

    @property
    def compared(self) -> tuple[str, ...]:
        """The gradients."""
        return tuple(self.gradients.values())

    def mentions(self) -> Iterator[Mention]:
        """The loss, the inputs and their gradients, and what the laws speak of."""
        for number_, law in enumerate(self.conserves):
            if isinstance(law.equals, str):
                yield Mention(("conserves", number_, "equals"), law.equals, "input or result")
        for name in self.gradients:
            yield Mention(("gradients", name), name, "input")
        if self.cotangent is not None:
            yield Mention(("cotangent",), self.cotangent, "input")
        yield Mention(("loss",), self.loss, "result")
        for name, gradient in self.gradients.items():
            yield Mention(("gradients", name), gradient, "result")
        for number_, law in enumerate(self.conserves):
            yield Mention(("conserves", number_, "sum"), law.sum, "result")

    def lacks(self) -> str:
        """Anything that is compared."""
        return "" if self.gradients or self.conserves else "gradients or conserves"


class Gradcheck(Kind[GradcheckCheck]):
    """Compare every gradient of the check on every case, then the conservation laws."""

    keys = GradcheckCheck
    judges_values = True

    def carry_out(self, bench: Bench, check: GradcheckCheck) -> CheckResult:
        """The first gradient or law that does not hold on a case is its finding."""
        from grader.bench.tally import tally

        def judge(case: CaseRecipe) -> Finding | None:
            values = bench.observed(check.run, case).values
            numeric = _differences(bench, check, case)
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

    def has_tolerance(self, check: GradcheckCheck) -> bool:
        """Where gradients are compared; a law alone has none worth measuring."""
        return bool(check.gradients)

    def deviation(self, bench: Bench, check: GradcheckCheck, case: CaseRecipe) -> float:
        """Of the worst entry of all gradients."""
        values = bench.observed(check.run, case).values
        numeric = _differences(bench, check, case)
        return max(
            _excess(values.get(gradient), **numeric[wrt])
            for wrt, gradient in check.gradients.items()
        )


def _differences(
    bench: Bench, check: GradcheckCheck, case: CaseRecipe
) -> dict[str, dict[str, Array]]:
    """Numerical gradients of <cotangent, loss> by input, with their errors; measured once."""
    return bench.fact(("differences", check.id, case.name), lambda: _measured(bench, check, case))


def _measured(bench: Bench, check: GradcheckCheck, case: CaseRecipe) -> dict[str, dict[str, Array]]:
    import numpy as np

    from grader.bench.bench import PRECISE, array_of, trusting

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
            of=check.loss,
            cotangent=cotangent,
            kinks=check.kinks,
        )
    return dict(found)


def _allowed(value: Array, error: Array) -> Array:
    """What a gradient may be off by, entry by entry; entries at -inf have no difference."""
    import numpy as np

    scale = float(np.abs(value[np.isfinite(value)]).max(initial=0.0))
    return np.asarray(RELATIVE * scale + ESTIMATES * np.asarray(error))


def _compare(
    bench: Bench,
    case: CaseRecipe,
    name: str,
    observed: Any,  # noqa: ANN401 any result
    numeric: Mapping[str, Array],
) -> Finding | None:
    import numpy as np

    from grader.bench.compare import Fault
    from grader.bench.exhibit import grids, mismatch
    from grader.bench.results import describe
    from grader.bench.tally import Finding

    want = numeric["value"]
    got = _array(observed)
    if got is None or got.shape != want.shape:
        wanted = f"floats of shape {shape_text(want.shape)}"
        return Finding(f"{name} is {describe(observed)}, expected {wanted} (case {case.name})")
    allowed = _allowed(want, numeric["error"])
    with np.errstate(invalid="ignore"):
        wrong = np.isfinite(want) & ~(np.abs(got - want) <= allowed)  # not <=: NaN disagrees
    if not wrong.any():
        return None
    size = np.where(wrong, np.nan_to_num(np.abs(got - want), nan=np.inf), -1.0)
    index = tuple(int(i) for i in np.unravel_index(int(np.argmax(size)), wrong.shape))
    found, expected = numbers_apart(got[index], want[index])
    count, total = int(wrong.sum()), int(wrong.size)
    fault = Fault(
        name,
        f"{name} disagrees with differences of the forward in {count} of {total} entries",
        "values", found, expected, band(float(allowed[index])), index, count, total,
        (got, want, wrong),
    )  # fmt: skip
    return Finding(
        fault.sentence,
        mismatch=mismatch(fault, case),
        exhibit=grids(bench, case, fault, Show()),
        subject=name,
    )


def _excess(observed: Any, value: Array, error: Array) -> float:  # noqa: ANN401 any result
    """The worst deviation over what is allowed; infinity where it is none of numbers."""
    import numpy as np

    got = _array(observed)
    if got is None or got.shape != value.shape:
        return math.inf
    known = np.isfinite(value)
    allowed = _allowed(value, error)[known]
    off = np.abs(got - value)[known]
    if not bool(np.isfinite(off).all()):
        return math.inf
    ratios = np.divide(off, allowed, out=np.full(off.shape, np.inf), where=allowed > 0)
    return float(np.where(off == 0, 0.0, ratios).max(initial=0.0))


def _array(value: Any) -> Array | None:  # noqa: ANN401 any result
    import numpy as np

    values = getattr(value, "values", value)
    if isinstance(values, (np.ndarray, np.generic, float)) and np.asarray(values).dtype.kind == "f":
        return np.asarray(values, np.float64)
    return None


def _conserved(
    bench: Bench,
    run: str,
    case: CaseRecipe,
    law: Conserved,
    values: Mapping[str, Any],
) -> Finding | None:
    import numpy as np

    from grader.bench.bench import BankFault, array_of
    from grader.bench.results import describe
    from grader.bench.tally import Finding

    got = _array(values.get(law.sum))
    if got is None:
        found = describe(values.get(law.sum))
        return Finding(f"{law.sum} is {found}, expected floats (case {case.name})")
    axes = tuple(law.over)
    shape = array_of(bench.truth(run, case).values[law.sum]).shape
    if any(not -len(shape) <= axis < len(shape) for axis in axes):
        raise BankFault(f"{law.sum} of shape {shape_text(shape)} has no axes {list(axes)}")
    if got.shape != shape:
        return Finding(
            f"{law.sum} has shape {shape_text(got.shape)}, expected {shape_text(shape)} "
            f"(case {case.name})"
        )
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
    total = got.sum(axis=axes)
    if total.shape != want.shape:
        raise BankFault(f"the sums of {law.sum} and {what} over {list(axes)} differ in shape")
    scale = float(np.abs(got).sum(axis=axes).max(initial=0.0)) + float(
        np.abs(want).max(initial=0.0)
    )
    epsilon = {"float32": 2.0**-23, "bfloat16": 2.0**-7}.get(case.dtype, 2.0**-52)
    allowed = max(RELATIVE if case.dtype == "float64" else 0.0, 64 * epsilon) * scale
    off = np.abs(total - want)
    if bool((off <= allowed).all()):
        return None
    at = tuple(
        int(i)
        for i in np.unravel_index(int(np.nanargmax(np.nan_to_num(off, nan=np.inf))), off.shape)
    )
    where = f" at {list(at)}" if at else ""
    return Finding(
        f"{law.sum} summed over axes {list(axes)} is {number(float(total[at]))}, expected {what}, "
        f"{number(float(want[at]))}{where} in case {case.name}"
    )
