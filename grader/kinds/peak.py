"""Check `peak`: the most bytes that numpy and Python allocate at once while one step goes on.

tracemalloc sees every array of numpy's, however short its life, and every object of Python's.  What
is allocated past it the system sees: see `bench.peak_probe`.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from grader.kinds.base import CheckResult, kit
from grader.kinds.counted import BudgetCheck, Counted
from grader.model.keys import Name, Slug
from grader.model.numerals import bytes_text, times


class PeakCheck(BudgetCheck):
    """Bytes that are allocated at once."""

    kind: Literal["peak"]
    of: Name = Field(
        description="A result: the step that gives it is looked at, and none before it. The "
        "result counts, inputs do not."
    )
    large: Slug | Literal[""] = Field(
        default="",
        description="Another case, on which only the system's own account is taken; a budget of "
        "some megabytes or more.",
    )


class Peak(Counted[PeakCheck]):
    """Count bytes in the worker, and believe the system if it sees more."""

    keys = PeakCheck
    without_torch = True
    slow = True  # every allocation is traced
    shows_measurement = True

    def carry_out(self, bench: kit.Bench, check: PeakCheck) -> CheckResult:
        """Hold the bytes against the budget on every case."""
        counted = super().carry_out(bench, check)
        return kit.rss_probe.confirmed(
            bench, check, counted, lambda case: self._outside(bench, check, case), check.large
        )

    def measure(
        self, bench: kit.Bench, program: kit.RemoteProgram, check: PeakCheck, case: kit.Case
    ) -> kit.Measured:
        """Bytes."""
        return kit.measure(bench, program, check.run, case, "allocated", of=check.of)

    def assess(
        self, bench: kit.Bench, check: PeakCheck, case: kit.Case, found: kit.Measured
    ) -> kit.Finding:
        """The bytes against the budget."""
        size, allowed = float(found.value), kit.amount(bench, check, check.at_most, case)
        figures = {"bytes": size, "allowed": allowed}
        if size <= allowed:
            line = f"{bytes_text(size)} at once, {bytes_text(allowed)} allowed"
            return kit.Finding.passed(line, **figures)
        function = kit.producing(bench.steps(check.run), check.of)[-1].function
        sentence = f"{function} allocates {bytes_text(size)} at once, {bytes_text(allowed)} allowed"
        if allowed > 0:
            sentence += f" ({times(size / allowed)})"
        with kit.trusting(f"the reference fails on case {case.name}"):
            reference = float(self.measure(bench, bench.reference, check, case).value)
        exhibit = kit.bars(
            bytes_text, ("yours", size), ("allowed", allowed), ("reference", reference)
        )
        return kit.Finding(f"{sentence} in case {case.name}", exhibit=exhibit, figures=figures)

    def by_style(self, check: PeakCheck) -> bool:  # noqa: ARG002
        """Temporaries are."""
        return True

    def _outside(self, bench: kit.Bench, check: PeakCheck, case: kit.Case) -> kit.Finding | None:
        """What the system sees of it, and the count inside does not."""
        with kit.trusting(f"the reference fails on case {case.name}"):
            reference = float(self.measure(bench, bench.reference, check, case).value)
        return kit.peak_probe.hidden_peak(
            bench,
            check.run,
            case,
            check.of,
            # Asked for where it is said only: tracing makes loops ten times slower.
            counted=lambda: float(self.measure(bench, bench.submission, check, case).value),
            reference=reference,
            budget=kit.amount(bench, check, check.at_most, case),
        )
