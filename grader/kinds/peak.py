"""Check `peak`: the most bytes that numpy and Python allocate at once while one step goes on.

tracemalloc sees every array of numpy's, however short its life, and every object of Python's.  What
is allocated past it the system shows on the `large` case: see `evaluation.witness`.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from grader.kinds.base import CheckResult, api
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

    def carry_out(self, evaluation: api.Evaluation, check: PeakCheck) -> CheckResult:
        """Hold the bytes against the budget on every case."""
        counted = super().carry_out(evaluation, check)
        steps = evaluation.steps(check.run)
        *first, step = api.producing(steps, check.of)
        return api.confirmed(
            evaluation,
            check,
            counted,
            check.large,
            api.halves(steps, first, [step], at_peak=True),
            lambda case: api.amount(evaluation, check, check.at_most, case),
        )

    def measure(
        self,
        evaluation: api.Evaluation,
        program: api.RemoteProgram,
        check: PeakCheck,
        case: api.Case,
    ) -> api.Measured:
        """Bytes."""
        return api.measure(evaluation, program, check.run, case, "allocated", of=check.of)

    def assess(
        self, evaluation: api.Evaluation, check: PeakCheck, case: api.Case, found: api.Measured
    ) -> api.Finding:
        """The bytes against the budget."""
        size, allowed = float(found.value), api.amount(evaluation, check, check.at_most, case)
        figures = {"bytes": size, "allowed": allowed}
        if size <= allowed:
            line = f"{bytes_text(size)} at once, {bytes_text(allowed)} allowed"
            return api.Finding.passed(line, **figures)
        function = api.producing(evaluation.steps(check.run), check.of)[-1].function
        sentence = f"{function} allocates {bytes_text(size)} at once, {bytes_text(allowed)} allowed"
        if allowed > 0:
            sentence += f" ({times(size / allowed)})"
        with api.blame_bank(f"the reference fails on case {case.name}"):
            reference = float(self.measure(evaluation, evaluation.reference, check, case).value)
        exhibit = api.bars(
            bytes_text, ("yours", size), ("allowed", allowed), ("reference", reference)
        )
        return api.Finding(f"{sentence} in case {case.name}", exhibit=exhibit, figures=figures)

    def by_style(self, check: PeakCheck) -> bool:  # noqa: ARG002
        """Temporaries are."""
        return True
