"""Kinds that ask about an autograd graph: `graph`, `flops` and `memory`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

from grader.cases import size_expr
from grader.grading.kinds.base import CaseTrial, Check, CheckResult, api
from grader.grading.kinds.state_and_peak import BudgetedKind, CountedKind
from grader.model.number_format import format_number, format_ratio
from grader.model.report import Verdict
from grader.model.spec import Amount, Multiple, Name, NameReference, RunName, yaml_key
from grader.sandbox import config

# Times the baseline's element-wise work; a matmul written that way is far beyond.
ELEMENTWISE_SPARE_FLOPS = 8.0
_WORDS = {"saved": "kept for backward", "live": "alive after forward", "peak": "at the peak"}


class GraphCheck(Check):
    """The tensor comes out of the submission's own autograd.Function."""

    kind: Literal["graph"]
    of: Name = yaml_key("The tensor.")

    @property
    def required_results(self) -> tuple[str, ...]:
        return ()


class GraphKind(CountedKind[GraphCheck]):
    """Ask which node of the autograd graph the tensor comes from."""

    keys = GraphCheck
    needs_torch = True

    def quantity(self, check: GraphCheck) -> tuple[str, str, tuple[str, ...]]:
        return "graph", check.of, ()

    def assess(self, trial: CaseTrial[GraphCheck], found: api.Measured) -> api.CaseFinding:
        origin, name = str(found.value), trial.check.of
        if origin == "own":
            return api.CaseFinding.for_pass()
        if origin == "none":
            return trial.failing_finding(f"{name} has no graph: nothing can flow back through it")
        said = "{} comes from {}, not from an autograd.Function of yours"
        if origin.startswith(("CheckpointFunction", "_CheckpointFrame")):
            return api.CaseFinding(said.format(name, "torch.utils.checkpoint"))
        return trial.failing_finding(said.format(name, origin))


class FlopsCheck(Check):
    """Matmul FLOPs against another run of the reference."""

    kind: Literal["flops"]
    against: RunName = yaml_key("Another run of the reference to compare with.")
    called: str = yaml_key("What the other run is, in words.", "")
    at_most: Multiple = yaml_key("How many times the matmul FLOPs of the other run are allowed.")

    def referenced_names(self) -> Iterator[NameReference]:
        yield NameReference(("against",), self.against, "run")


class FlopsKind(CountedKind[FlopsCheck]):
    """Count what both runs multiply."""

    keys = FlopsCheck
    needs_torch = True
    is_slow_to_observe = True  # every operation goes through Python
    shows_measurement = True

    def count_items(self, _: FlopsCheck, found: api.Measured, /) -> Sequence[str] | None:
        products = [
            f"{one.times} of {one.batch}x{one.rows}x{one.inner} by {one.inner}x{one.columns}"
            for one in found.products
        ]
        return products or None

    def quantity(self, check: FlopsCheck) -> tuple[str, str, tuple[str, ...]]:  # noqa: ARG002
        return "flops", "", ()

    def max_count(self, trial: CaseTrial[FlopsCheck]) -> float:
        base = float(self.measure_reference(trial, trial.check.against).value)
        return trial.check.at_most * max(1.0, base)

    def assess(self, trial: CaseTrial[FlopsCheck], found: api.Measured) -> api.CaseFinding:
        check, on = trial.check, trial.case.name
        other = check.called or f"the run {check.against}"
        base = self.measure_reference(trial, check.against)
        ratio = float(found.value) / max(1.0, float(base.value))
        figures = {"ratio": ratio}
        line = f"{ratio:.3f}x {other}, {format_ratio(check.at_most)} allowed"
        if ratio > check.at_most:
            exhibit = api.make_bars(
                lambda value: f"{format_number(value)} FLOPs",
                ("yours", float(found.value)),
                ("allowed", check.at_most * float(base.value)),
                (other, float(base.value)),
            )
            return api.CaseFinding(f"{line} in case {on}", exhibit=exhibit, figures=figures)
        if found.elements > ELEMENTWISE_SPARE_FLOPS * base.elements:
            return trial.failing_finding(
                f"{found.elements:,} element-wise results, {base.elements:,} in {other}: "
                "a product written as multiply-and-sum costs FLOPs too",
                figures=figures,
            )
        return api.CaseFinding.for_pass(line, **figures)


class MemoryCheck(Check):
    """Bytes of an autograd graph."""

    kind: Literal["memory"]
    quantity: Literal["saved", "live", "peak"] = yaml_key(
        "saved: what is kept for backward; live: what the first step leaves alive; "
        "peak: the most that is alive at once."
    )
    without: list[Name] = yaml_key("Inputs that do not count.", [], alias="except")
    at_most: Amount = yaml_key(
        "The budget in bytes, or with against a number of times the other run."
    )
    against: RunName | None = yaml_key("Another run of the reference to compare with.", None)
    called: str = yaml_key("What the other run is, in words.", "")
    device: Literal["cpu", "cuda"] = yaml_key(
        "Where it is measured; cuda is skipped where there is none.", "cpu"
    )

    def referenced_names(self) -> Iterator[NameReference]:
        yield from super().referenced_names()
        for number_, name in enumerate(self.without):
            yield NameReference(("except", number_), name, "input")
        if self.against is not None:
            yield NameReference(("against",), self.against, "run")
        for name in sorted(size_expr.names_in_amount(self.at_most)):
            yield NameReference(("at_most",), name, "size" if self.against is None else "number")


class MemoryKind(BudgetedKind[MemoryCheck]):
    """Count bytes of the autograd graph."""

    keys = MemoryCheck
    needs_torch = True

    def run_check(self, evaluation: api.Evaluation, check: MemoryCheck) -> CheckResult:
        if check.device == "cuda" and (lacking := self._lacking(evaluation, check)):
            return CheckResult(
                check.id, check.kind, Verdict.SKIPPED, lacking, stretch=check.stretch
            )
        return super().run_check(evaluation, check)

    def _lacking(self, evaluation: api.Evaluation, check: MemoryCheck) -> str:
        """Why it cannot be measured on this machine's device; empty where it can."""
        if not config.cuda_device_files():
            return "needs a CUDA device, which this machine does not have"
        try:  # a card may be too small, in use, or a slice of one
            for case in evaluation.cases_of(check):
                self.measure_reference(CaseTrial(evaluation, check, case))
        except api.BankProgramError as fault:
            return f"cannot be measured on this machine's CUDA device: {fault}"
        return ""

    def quantity(self, check: MemoryCheck) -> tuple[str, str, tuple[str, ...]]:
        quantity = "cuda-peak" if check.device == "cuda" else check.quantity
        return quantity, "", tuple(check.without)

    def max_count(self, trial: CaseTrial[MemoryCheck]) -> float:
        if trial.check.against is None:
            return super().max_count(trial)
        return size_expr.evaluate_amount(trial.check.at_most, {}) * self._base(trial)

    def _base(self, trial: CaseTrial[MemoryCheck]) -> float:
        """What the budget is a multiple of."""
        return max(1.0, float(self.measure_reference(trial, trial.check.against).value))

    def excess_phrase(self, trial: CaseTrial[MemoryCheck], size: str) -> str:
        return f"{size} {self.pass_phrase(trial.check)}"

    def pass_phrase(self, check: MemoryCheck) -> str:
        return _WORDS[check.quantity]

    def assess(self, trial: CaseTrial[MemoryCheck], found: api.Measured) -> api.CaseFinding:
        check = trial.check
        if check.against is None:
            return super().assess(trial, found)
        size, allowed, base = float(found.value), self.max_count(trial), self._base(trial)
        called = check.called or f"the run {check.against}"
        figures = {"bytes": size, "allowed": allowed, "ratio": size / base}
        line = f"{format_ratio(size / base)} {called}, {format_ratio(allowed / base)} allowed"
        if size <= allowed:
            return api.CaseFinding.for_pass(line, **figures)
        exhibit = self.budget_bars(trial, found, (called, base))
        return api.CaseFinding(
            f"{line} in case {trial.case.name}", exhibit=exhibit, figures=figures
        )

    def varies_with_style(self, check: MemoryCheck) -> bool:
        return check.quantity == "peak"

    def count_items(self, check: MemoryCheck, found: api.Measured, /) -> Sequence[str] | None:
        return None if check.quantity == "peak" else found.kept

    def decides_on_every_machine(self, check: MemoryCheck) -> bool:
        return check.device == "cpu"
