"""Kinds that ask about an autograd graph: `graph`, `flops` and `memory`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

from grader.cases import size_expr
from grader.kinds.base import Check, CheckResult, Trial, api
from grader.kinds.counted import Budgeted, Counted
from grader.model.numerals import number, times
from grader.model.report import Verdict
from grader.model.spec import Amount, Mention, Multiple, Name, RunName, key
from grader.sandbox import config

# Times the baseline's element-wise work; a matmul written that way is far beyond.
ELEMENTWISE_ROOM = 8.0
_WORDS = {"saved": "kept for backward", "live": "alive after forward", "peak": "at the peak"}


class GraphCheck(Check):
    """The tensor comes out of the submission's own autograd.Function."""

    kind: Literal["graph"]
    of: Name = key("The tensor.")

    @property
    def wanted(self) -> tuple[str, ...]:
        return ()


class Graph(Counted[GraphCheck]):
    """Ask which node of the autograd graph the tensor comes from."""

    keys = GraphCheck
    needs_torch = True

    def quantity(self, check: GraphCheck) -> tuple[str, str, tuple[str, ...]]:
        return "graph", check.of, ()

    def assess(self, trial: Trial[GraphCheck], found: api.Measured) -> api.Finding:
        origin, name = str(found.value), trial.check.of
        if origin == "own":
            return api.Finding.passed()
        if origin == "none":
            return trial.wrong(f"{name} has no graph: nothing can flow back through it")
        said = "{} comes from {}, not from an autograd.Function of yours"
        if origin.startswith(("CheckpointFunction", "_CheckpointFrame")):
            return api.Finding(said.format(name, "torch.utils.checkpoint"))
        return trial.wrong(said.format(name, origin))


class FlopsCheck(Check):
    """Matmul FLOPs against another run of the reference."""

    kind: Literal["flops"]
    against: RunName = key("Another run of the reference to compare with.")
    called: str = key("What the other run is, in words.", "")
    at_most: Multiple = key("How many times the matmul FLOPs of the other run are allowed.")

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

    def allowed(self, trial: Trial[FlopsCheck]) -> float:
        base = float(self.baseline(trial, trial.check.against).value)
        return trial.check.at_most * max(1.0, base)

    def assess(self, trial: Trial[FlopsCheck], found: api.Measured) -> api.Finding:
        check, on = trial.check, trial.case.name
        other = check.called or f"the run {check.against}"
        base = self.baseline(trial, check.against)
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
            return api.Finding(f"{line} in case {on}", exhibit=exhibit, figures=figures)
        if found.elements > ELEMENTWISE_ROOM * base.elements:
            return trial.wrong(
                f"{found.elements:,} element-wise results, {base.elements:,} in {other}: "
                "a product written as multiply-and-sum costs FLOPs too",
                figures=figures,
            )
        return api.Finding.passed(line, **figures)


class MemoryCheck(Check):
    """Bytes of an autograd graph."""

    kind: Literal["memory"]
    quantity: Literal["saved", "live", "peak"] = key(
        "saved: what is kept for backward; live: what the first step leaves alive; "
        "peak: the most that is alive at once."
    )
    without: list[Name] = key("Inputs that do not count.", [], alias="except")
    at_most: Amount = key("The budget in bytes, or with against a number of times the other run.")
    against: RunName | None = key("Another run of the reference to compare with.", None)
    called: str = key("What the other run is, in words.", "")
    device: Literal["cpu", "cuda"] = key(
        "Where it is measured; cuda is skipped where there is none.", "cpu"
    )

    def mentions(self) -> Iterator[Mention]:
        yield from super().mentions()
        for number_, name in enumerate(self.without):
            yield Mention(("except", number_), name, "input")
        if self.against is not None:
            yield Mention(("against",), self.against, "run")
        for name in sorted(size_expr.names(self.at_most)):
            yield Mention(("at_most",), name, "size" if self.against is None else "number")


class Memory(Budgeted[MemoryCheck]):
    """Count bytes of the autograd graph."""

    keys = MemoryCheck
    needs_torch = True

    def carry_out(self, evaluation: api.Evaluation, check: MemoryCheck) -> CheckResult:
        if check.device == "cuda" and (lacking := self._lacking(evaluation, check)):
            return CheckResult(
                check.id, check.kind, Verdict.SKIPPED, lacking, stretch=check.stretch
            )
        return super().carry_out(evaluation, check)

    def _lacking(self, evaluation: api.Evaluation, check: MemoryCheck) -> str:
        """Why it cannot be measured on this machine's device; empty where it can."""
        if not config.cuda():
            return "needs a CUDA device, which this machine does not have"
        try:  # a card may be too small, in use, or a slice of one
            for case in evaluation.cases_of(check):
                self.baseline(Trial(evaluation, check, case))
        except api.BankFault as fault:
            return f"cannot be measured on this machine's CUDA device: {fault}"
        return ""

    def quantity(self, check: MemoryCheck) -> tuple[str, str, tuple[str, ...]]:
        quantity = "cuda-peak" if check.device == "cuda" else check.quantity
        return quantity, "", tuple(check.without)

    def allowed(self, trial: Trial[MemoryCheck]) -> float:
        if trial.check.against is None:
            return super().allowed(trial)
        return size_expr.value(trial.check.at_most, {}) * self._base(trial)

    def _base(self, trial: Trial[MemoryCheck]) -> float:
        """What the budget is a multiple of."""
        return max(1.0, float(self.baseline(trial, trial.check.against).value))

    def over(self, trial: Trial[MemoryCheck], size: str) -> str:
        return f"{size} {self.does(trial.check)}"

    def does(self, check: MemoryCheck) -> str:
        return _WORDS[check.quantity]

    def assess(self, trial: Trial[MemoryCheck], found: api.Measured) -> api.Finding:
        check = trial.check
        if check.against is None:
            return super().assess(trial, found)
        size, allowed, base = float(found.value), self.allowed(trial), self._base(trial)
        called = check.called or f"the run {check.against}"
        figures = {"bytes": size, "allowed": allowed, "ratio": size / base}
        line = f"{times(size / base)} {called}, {times(allowed / base)} allowed"
        if size <= allowed:
            return api.Finding.passed(line, **figures)
        exhibit = self.bars(trial, found, (called, base))
        return api.Finding(f"{line} in case {trial.case.name}", exhibit=exhibit, figures=figures)

    def by_style(self, check: MemoryCheck) -> bool:
        return check.quantity == "peak"

    def what(self, check: MemoryCheck, found: api.Measured, /) -> Sequence[str] | None:
        return None if check.quantity == "peak" else found.kept

    def decides_anywhere(self, check: MemoryCheck) -> bool:
        return check.device == "cpu"
