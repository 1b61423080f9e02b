"""Check `flops`: matmul FLOPs of a run against another run of the reference.

They are counts (see `worker.autograd`): the same on every machine, and decided without tolerance.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from pydantic import Field

from grader.kinds.base import Count, Kind
from grader.model.numerals import number, times
from grader.model.report import Bar, Bars, CheckResult
from grader.model.spec import Check, Mention, Multiple, RunName

if TYPE_CHECKING:
    from grader.bench.bench import Bench
    from grader.bench.tally import Finding
    from grader.cases.recipe import CaseRecipe

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
        """The other run."""
        yield Mention(("against",), self.against, "run")

    def budget(self) -> tuple[str, str]:
        """Times."""
        return f"{self.at_most:g}", "times the FLOPs"


class Flops(Kind[FlopsCheck]):
    """Count what both runs multiply."""

    keys = FlopsCheck
    needs_torch = True
    long_limit = True
    shows_measurement = True

    def carry_out(self, bench: Bench, check: FlopsCheck) -> CheckResult:
        """Matmul FLOPs within the multiple, and none hidden in element-wise work."""
        from grader.bench.measured import baseline, differs_when_measured, measure
        from grader.bench.tally import Finding, tally

        other = check.called or f"the run {check.against}"

        def judge(case: CaseRecipe) -> Finding:
            found = measure(bench, bench.submission, check.run, case, "flops")
            base = baseline(bench, check.against, case, "flops")
            ratio = float(found.value) / max(1.0, float(base.value))
            line = f"{ratio:.3f}x {other}, {times(check.at_most)} allowed"
            passed = Finding.passed(line, ratio=ratio)
            if ratio > check.at_most:
                bars = [
                    ("yours", float(found.value)),
                    ("allowed", check.at_most * float(base.value)),
                    (other, float(base.value)),
                ]
                exhibit = Bars(tuple(Bar(label, v, f"{number(v)} FLOPs") for label, v in bars))
                return Finding(
                    f"{line} in case {case.name}", exhibit=exhibit, figures=passed.figures
                )
            if found.elements > ELEMENTWISE_ROOM * base.elements:
                return Finding(
                    f"{found.elements:,} element-wise results, {base.elements:,} in {other}: "
                    f"a product written as multiply-and-sum costs FLOPs too (case {case.name})",
                    figures=passed.figures,
                )
            flagged = differs_when_measured(
                bench,
                check.run,
                case,
                found.results,
                lambda: measure(bench, bench.reference, check.run, case, "flops").results,
            )
            return passed if flagged is None else replace(flagged, figures=passed.figures)

        return tally(bench, check, judge)

    def observe(self, bench: Bench, check: FlopsCheck, case: CaseRecipe) -> Count:
        """Matmul FLOPs."""
        from grader.bench.measured import measure

        return Count(float(measure(bench, bench.submission, check.run, case, "flops").value))

    def cost(self, check: FlopsCheck) -> int:  # noqa: ARG002
        """Every operation goes through Python."""
        return 1
