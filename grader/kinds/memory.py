"""Check `memory`: bytes of an autograd graph, against a budget or another run of the reference.

A pass by the count is then confirmed by the system's account of the process.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

from pydantic import Field

from grader.cases import size_expr
from grader.kinds.base import Check, CheckResult, api
from grader.kinds.counted import Counted
from grader.model.keys import Amount, Mention, Name, RunName, Slug
from grader.model.numerals import bytes_text, times
from grader.model.verdict import Verdict

_WORDS = {"saved": "kept for backward", "live": "alive after forward", "peak": "at the peak"}


class MemoryCheck(Check):
    """Bytes of an autograd graph."""

    kind: Literal["memory"]
    quantity: Literal["saved", "live", "peak"] = Field(
        description="saved: what is kept for backward; live: what the first step leaves alive; "
        "peak: the most that is alive at once."
    )
    without: list[Name] = Field(default=[], alias="except", description="Inputs that do not count.")
    at_most: Amount = Field(
        description="The budget in bytes, or with against a number of times the other run."
    )
    against: RunName | None = Field(
        default=None, description="Another run of the reference to compare with."
    )
    called: str = Field(default="", description="What the other run is, in words.")
    device: Literal["cpu", "cuda"] = Field(
        default="cpu", description="Where it is measured; cuda is skipped where there is none."
    )
    large: Slug | Literal[""] = Field(
        default="",
        description="Another case, on which only the system's own account is taken; tens of "
        "kilobytes or more.",
    )

    def mentions(self) -> Iterator[Mention]:
        """Inputs left out, the other run, the large case, and what the budget is made of."""
        for number, name in enumerate(self.without):
            yield Mention(("except", number), name, "input")
        if self.against is not None:
            yield Mention(("against",), self.against, "run")
        if self.large:
            yield Mention(("large",), self.large, "case")
        for name in sorted(size_expr.names(self.at_most)):
            yield Mention(("at_most",), name, "size" if self.against is None else "number")


class Memory(Counted[MemoryCheck]):
    """Count bytes in the worker, and believe the system if it sees more."""

    keys = MemoryCheck
    needs_torch = True
    shows_measurement = True

    def carry_out(self, evaluation: api.Evaluation, check: MemoryCheck) -> CheckResult:
        """Hold bytes against a budget, or against another run of the reference."""
        if check.device == "cuda":
            with api.blame_bank("the reference's worker fails"):
                has_cuda = evaluation.reference.has_cuda()
            if not has_cuda:
                return CheckResult(
                    check.id,
                    check.kind,
                    Verdict.SKIPPED,
                    "needs a CUDA device, which this machine does not have",
                    stretch=check.stretch,
                )
        counted = super().carry_out(evaluation, check)
        if check.device == "cuda" or _covered_by_another(evaluation, check):
            return counted
        steps, peak = evaluation.steps(check.run), check.quantity == "peak"
        first = () if peak else tuple(step for step in steps if not step.backward)
        rest = steps if peak else tuple(step for step in steps if step.backward)
        return api.confirmed(
            evaluation,
            check,
            counted,
            check.large,
            api.halves(steps, first, rest, at_peak=peak),
            lambda case: _allowed(evaluation, check, case)[0],
        )

    def measure(
        self,
        evaluation: api.Evaluation,
        program: api.RemoteProgram,
        check: MemoryCheck,
        case: api.Case,
    ) -> api.Measured:
        """Bytes."""
        without = tuple(check.without)
        return api.measure(evaluation, program, check.run, case, _quantity(check), without=without)

    def assess(
        self, evaluation: api.Evaluation, check: MemoryCheck, case: api.Case, found: api.Measured
    ) -> api.Finding:
        """Bytes within the budget, or the multiple."""
        size = float(found.value)
        budget, base = _allowed(evaluation, check, case)
        figures = {"bytes": size, "allowed": budget}
        other = []
        if base is not None:
            called = check.called or f"the run {check.against}"
            other = [(called, base)]
            figures["ratio"] = size / base
            line = f"{times(size / base)} {called}, {times(budget / base)} allowed"
        else:
            line = f"{bytes_text(size)} {_WORDS[check.quantity]}, {bytes_text(budget)} allowed"
        if size <= budget:
            return api.Finding.passed(line, **figures)
        with api.blame_bank(f"the reference fails on case {case.name}"):
            reference = float(self.measure(evaluation, evaluation.reference, check, case).value)
        exhibit = api.bars(
            bytes_text,
            *other,
            ("yours", size),
            ("allowed", budget),
            ("reference", reference),
            details=tuple(f"{what}  {bytes_text(n)}" for what, n in found.details),
        )
        excess = f" ({times(size / budget)})" if budget > 0 and base is None else ""
        return api.Finding(f"{line}{excess} in case {case.name}", exhibit=exhibit, figures=figures)

    def by_style(self, check: MemoryCheck) -> bool:
        """The peak of temporaries is."""
        return check.quantity == "peak"

    def what(self, check: MemoryCheck, found: api.Measured, /) -> Sequence[str] | None:
        """What is saved or alive; a peak is over before it can be looked at."""
        return None if check.quantity == "peak" else found.kept

    def decides_anywhere(self, check: MemoryCheck) -> bool:
        """Not where the machine may lack the device."""
        return check.device == "cpu"


def _allowed(
    evaluation: api.Evaluation, check: MemoryCheck, case: api.Case
) -> tuple[float, float | None]:
    """The budget on a case, and what it is a multiple of, if it is one."""
    if check.against is None:
        return api.amount(evaluation, check, check.at_most, case), None
    base = max(1.0, float(api.baseline(evaluation, check.against, case, _quantity(check)).value))
    return size_expr.value(check.at_most, {}) * base, base


def _covered_by_another(evaluation: api.Evaluation, check: MemoryCheck) -> bool:
    """Whether a later check of what is alive looks at the same run: it sees all that is saved."""
    return check.quantity == "saved" and any(
        isinstance(other, MemoryCheck) and other.quantity == "live" and other.run == check.run
        for other in evaluation.checks
    )


def _quantity(check: MemoryCheck) -> str:
    return "cuda-peak" if check.device == "cuda" else check.quantity
