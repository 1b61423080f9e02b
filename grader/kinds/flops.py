"""Check `flops`: matmul FLOPs of a run against another run of the reference."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

from pydantic import Field

from grader.kinds.base import Check, api
from grader.kinds.counted import Counted
from grader.model.numerals import number, times
from grader.model.spec import Mention, Multiple, RunName

# Times the baseline's element-wise work; a matmul written that way is far beyond.
ELEMENTWISE_ROOM = 8.0


class FlopsCheck(Check):
    """Matmul FLOPs against another run of the reference."""

    kind: Literal["flops"]
    against: RunName = Field(description="Another run of the reference to compare with.")
    called: str = Field(default="", description="What the other run is, in words.")
    at_most: Multiple = Field(
        description="How many times the matmul FLOPs of the other run are allowed."
    )

    def mentions(self) -> Iterator[Mention]:
        yield Mention(("against",), self.against, "run")


class Flops(Counted[FlopsCheck]):
    """Count what both runs multiply."""

    keys = FlopsCheck
    needs_torch = True
    slow = True  # every operation goes through Python
    shows_measurement = True

    def what(self, _: FlopsCheck, found: api.Measured, /) -> Sequence[str] | None:
        products = [
            f"{one.times} of {one.batch}x{one.rows}x{one.inner} by {one.inner}x{one.columns}"
            for one in found.products
        ]
        return products or None

    def quantity(self, check: FlopsCheck) -> tuple[str, str, tuple[str, ...]]:  # noqa: ARG002
        return "flops", "", ()

    def assess(
        self, evaluation: api.Evaluation, check: FlopsCheck, case: api.Case, found: api.Measured
    ) -> api.Finding:
        other = check.called or f"the run {check.against}"
        base = api.baseline(evaluation, check.against, case, "flops")
        ratio = float(found.value) / max(1.0, float(base.value))
        figures = {"ratio": ratio}
        line = f"{ratio:.3f}x {other}, {times(check.at_most)} allowed"
        if ratio > check.at_most:
            exhibit = api.bars(
                lambda value: f"{number(value)} FLOPs",
                ("yours", float(found.value)),
                ("allowed", check.at_most * float(base.value)),
                (other, float(base.value)),
            )
            return api.Finding(f"{line} in case {case.name}", exhibit=exhibit, figures=figures)
        if found.elements > ELEMENTWISE_ROOM * base.elements:
            sentence = (
                f"{found.elements:,} element-wise results, {base.elements:,} in {other}: "
                f"a product written as multiply-and-sum costs FLOPs too (case {case.name})"
            )
            return api.Finding(sentence, figures=figures)
        return api.Finding.passed(line, **figures)
