"""Check `memory`: bytes of an autograd graph, against a budget or another run of the reference.

A pass by the count is then confirmed by the system's account of the process.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

from pydantic import Field

from grader.cases import size_expr
from grader.kinds.base import CheckResult, api
from grader.kinds.counted import Budgeted, WatchedCheck
from grader.model.numerals import times
from grader.model.report import Verdict
from grader.model.spec import Amount, Mention, Name, RunName

_WORDS = {"saved": "kept for backward", "live": "alive after forward", "peak": "at the peak"}


class MemoryCheck(WatchedCheck):
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

    def mentions(self) -> Iterator[Mention]:
        yield from super().mentions()
        for number, name in enumerate(self.without):
            yield Mention(("except", number), name, "input")
        if self.against is not None:
            yield Mention(("against",), self.against, "run")
        for name in sorted(size_expr.names(self.at_most)):
            yield Mention(("at_most",), name, "size" if self.against is None else "number")

    def faults(self) -> Iterator[tuple[tuple[str | int, ...], str]]:
        yield from super().faults()
        if self.large and self.quantity == "peak":
            yield ("large",), "expected none: only what is kept is watched from outside"


class Memory(Budgeted[MemoryCheck]):
    """Count bytes of the autograd graph."""

    keys = MemoryCheck
    needs_torch = True

    def carry_out(self, evaluation: api.Evaluation, check: MemoryCheck) -> CheckResult:
        if check.device == "cuda":
            with api.blame_bank("the reference's worker fails"):
                has_cuda = evaluation.reference.has_cuda()
            if not has_cuda:
                message = "needs a CUDA device, which this machine does not have"
                return CheckResult(
                    check.id, check.kind, Verdict.SKIPPED, message, stretch=check.stretch
                )
        return super().carry_out(evaluation, check)

    def quantity(self, check: MemoryCheck) -> tuple[str, str, tuple[str, ...]]:
        quantity = "cuda-peak" if check.device == "cuda" else check.quantity
        return quantity, "", tuple(check.without)

    def halves(self, evaluation: api.Evaluation, check: MemoryCheck) -> api.Halves | None:
        if check.quantity == "peak":
            return None
        steps = evaluation.steps(check.run)
        forward = [step for step in steps if not step.backward]
        return forward, [step for step in steps if step.backward]

    def allowed(self, evaluation: api.Evaluation, check: MemoryCheck, case: api.Case) -> float:
        base = self._base(evaluation, check, case)
        if base is None:
            return super().allowed(evaluation, check, case)
        return size_expr.value(check.at_most, {}) * base

    def _base(self, evaluation: api.Evaluation, check: MemoryCheck, case: api.Case) -> float | None:
        """What the budget is a multiple of, if it is one."""
        if check.against is None:
            return None
        quantity = self.quantity(check)[0]
        base = api.baseline(evaluation, check.against, case, quantity)
        return max(1.0, float(base.value))

    def does(self, check: MemoryCheck) -> str:
        return _WORDS[check.quantity]

    def over(self, _: api.Evaluation, check: MemoryCheck) -> str:
        return f"{{}} {self.does(check)}"

    def assess(
        self, evaluation: api.Evaluation, check: MemoryCheck, case: api.Case, found: api.Measured
    ) -> api.Finding:
        base = self._base(evaluation, check, case)
        if base is None:
            return super().assess(evaluation, check, case, found)
        size, allowed = float(found.value), self.allowed(evaluation, check, case)
        called = check.called or f"the run {check.against}"
        figures = {"bytes": size, "allowed": allowed, "ratio": size / base}
        line = f"{times(size / base)} {called}, {times(allowed / base)} allowed"
        if size <= allowed:
            return api.Finding.passed(line, **figures)
        exhibit = self.bars(evaluation, check, case, found, (called, base))
        return api.Finding(f"{line} in case {case.name}", exhibit=exhibit, figures=figures)

    def by_style(self, check: MemoryCheck) -> bool:
        return check.quantity == "peak"

    def what(self, check: MemoryCheck, found: api.Measured, /) -> Sequence[str] | None:
        return None if check.quantity == "peak" else found.kept

    def decides_anywhere(self, check: MemoryCheck) -> bool:
        return check.device == "cpu"
