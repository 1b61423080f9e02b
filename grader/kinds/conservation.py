"""Check `conservation`: what is handed on is as much as came in.

A sum of a result along some axes equals that of an input or of another result, or a number: every
gradient that comes into a pooling window leaves it, and no row of a softmax's gradient has a sum.
Such a law holds at ties and kinks too, where no difference quotient exists.

Tolerance: 1e-7 of what is added up on both sides, in the dtype's precision where that is coarser,
and no less than what rounding may leave of the numbers that it is computed from.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from pydantic import Field

from grader.kinds.base import Kind, api
from grader.model.numerals import number, shape_text
from grader.model.spec import Mention, Name, TolerantCheck

RELATIVE = 1e-7


class ConservationCheck(TolerantCheck):
    """A sum of a result equals that of something else."""

    kind: Literal["conservation"]
    sum: Name = Field(description="The result that is added up.")
    over: list[int] = Field(description="Along these axes.")
    equals: Name | int | float = Field(
        description="An input or a result whose sum along the same axes it must equal, or a number."
    )

    @property
    def wanted(self) -> tuple[str, ...]:
        return (self.sum, self.equals) if isinstance(self.equals, str) else (self.sum,)

    @property
    def compared(self) -> tuple[str, ...]:
        return ()

    def mentions(self) -> Iterator[Mention]:
        yield from super().mentions()
        if isinstance(self.equals, str):
            yield Mention(("equals",), self.equals, "input or result")
        yield Mention(("sum",), self.sum, "result")


class Conservation(Kind[ConservationCheck]):
    """Compare the sums on every case."""

    keys = ConservationCheck
    judges_values = True

    def judge(
        self, evaluation: api.Evaluation, check: ConservationCheck, case: api.Case
    ) -> api.Finding | None:
        np, run = api.np, check.run
        observed = evaluation.observed(run, case).values.get(check.sum)
        got = floats(observed)
        on = f"(case {case.name})"
        if got is None:
            return api.Finding(f"{check.sum} is {api.describe(observed)}, expected floats {on}")
        right = evaluation.truth(run, case).values
        axes, shape = tuple(check.over), api.array_of(right[check.sum]).shape
        _require(check.sum, shape, axes)
        if got.shape != shape:
            has, needs = shape_text(got.shape), shape_text(shape)
            return api.Finding(f"{check.sum} has shape {has}, expected {needs} {on}")
        if not np.isfinite(got).all():
            return api.Finding(f"{check.sum} holds NaN or infinity {on}")
        total = np.asarray(got.sum(axis=axes))
        if isinstance(check.equals, str):
            drawn = evaluation.drawn(case)
            other = api.array_of((drawn if check.equals in drawn else right)[check.equals])
            _require(check.equals, other.shape, axes)
            want = np.asarray(np.asarray(other, np.float64).sum(axis=axes))
            what = f"the sum of {check.equals}"
        else:
            want = np.full(total.shape, float(check.equals))
            what = number(float(check.equals))
        if total.shape != want.shape:
            of = f"of {check.sum} and of {check.equals} over {list(axes)}"
            raise api.BankFault(f"the sums {of} differ in shape")
        sizes = np.abs(got).sum(axis=axes), np.abs(want)
        scale = sum(float(np.max(size, initial=0.0)) for size in sizes)
        epsilon = {"float32": 2.0**-23, "bfloat16": 2.0**-7}.get(case.dtype, 2.0**-52)
        share = max(RELATIVE if case.dtype == "float64" else 0.0, 64 * epsilon)
        size = api.largest(api.array_of(right[check.sum]))
        floor = api.least(case.dtype, size, api.entered(evaluation, run, case, check.sum))
        allowed = np.asarray(np.full(want.shape, max(share * scale, floor)))
        if check.tolerance is not None and check.tolerance.covers(check.sum):
            allowed = np.asarray(np.maximum(allowed, api.tolerated(check.tolerance, want)))
        fault = api.report(check.sum, total, want, ~(np.abs(total - want) <= allowed))
        if fault is None or fault.index is None:
            return None
        found, wanted = (number(float(sums[fault.index])) for sums in (total, want))
        where = f" at {list(fault.index)}" if fault.index else ""
        return api.Finding(
            f"{check.sum} summed over axes {list(axes)} is {found}, expected {what}, "
            f"{wanted}{where} in case {case.name}"
        )

    def observe(
        self, evaluation: api.Evaluation, check: ConservationCheck, case: api.Case
    ) -> api.Value:
        return evaluation.observed(check.run, case).values.get(check.sum)


def _require(name: str, shape: tuple[int, ...], axes: tuple[int, ...]) -> None:
    """Raise BankFault where an array has not all of some axes, each once."""
    places = {axis % len(shape) for axis in axes if -len(shape) <= axis < len(shape)}
    if len(places) != len(axes):
        raise api.BankFault(f"{name} of shape {shape_text(shape)} has no axes {list(axes)}")


def floats(value: api.Value) -> api.Array | None:
    """A result as float64, where it is of floats."""
    np = api.np
    values = getattr(value, "values", value)
    if isinstance(values, (np.ndarray, np.generic, float)) and np.asarray(values).dtype.kind == "f":
        return np.asarray(values, np.float64)
    return None
