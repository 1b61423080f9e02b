"""Kinds that measure an autograd graph: `graph`, `flops` and `memory`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

from grader.cases import amounts
from grader.grading.kinds.base import CaseFinding, CaseTrial, Check, CheckResult, api
from grader.grading.kinds.state_and_peak import BudgetedKind, CountedKind, Quantity
from grader.model.number_format import format_number, format_ratio
from grader.model.report import Verdict
from grader.model.spec import Amount, Multiple, Name, NameReference, RunName, yaml_key
from grader.sandbox import config

# Allowed multiple of the baseline's element-wise results.  A matmul written as multiply-and-sum
# needs far more.
MAX_ELEMENTWISE_RATIO = 8.0
_PHRASES = {"saved": "kept for backward", "live": "alive after forward", "peak": "at the peak"}


class GraphCheck(Check):
    """The tensor comes out of the submission's own autograd.Function."""

    kind: Literal["graph"]
    of: Name = yaml_key("The tensor.")

    @property
    def required_results(self) -> tuple[str, ...]:
        return ()


class GraphKind(CountedKind[GraphCheck]):
    """Require that the tensor comes out of an autograd.Function of the submission."""

    check_model = GraphCheck
    needs_torch = True

    def quantity(self, check: GraphCheck) -> Quantity:
        return Quantity("graph", check.of)

    def assess(self, trial: CaseTrial[GraphCheck], measured: api.Measured) -> CaseFinding:
        origin = str(measured.value)
        name = trial.check.of
        if origin == "own":
            return CaseFinding.for_pass()
        if origin == "none":
            return trial.failing_finding(f"{name} has no graph: nothing can flow back through it")
        if origin.startswith(("CheckpointFunction", "_CheckpointFrame")):
            return CaseFinding(
                f"{name} comes from torch.utils.checkpoint, not from an autograd.Function of yours"
            )
        return trial.failing_finding(
            f"{name} comes from {origin}, not from an autograd.Function of yours"
        )


class FlopsCheck(Check):
    """Matmul FLOPs against another run of the reference."""

    kind: Literal["flops"]
    against: RunName = yaml_key("Another run of the reference to compare with.")
    called: str = yaml_key("What the other run is, in words.", "")
    at_most: Multiple = yaml_key("How many times the matmul FLOPs of the other run are allowed.")

    def referenced_names(self) -> Iterator[NameReference]:
        yield NameReference(("against",), self.against, "run")


class FlopsKind(CountedKind[FlopsCheck]):
    """Compare the submission's matmul FLOPs with those of the reference in another run.

    Far more element-wise results than in that run fail too: they may be a matmul in disguise.
    """

    check_model = FlopsCheck
    needs_torch = True
    is_slow_to_observe = True  # every operation goes through Python
    shows_measurement = True

    def count_items(self, _: FlopsCheck, measured: api.Measured, /) -> Sequence[str] | None:
        items = []
        for product in measured.products:
            left = f"{product.batch}x{product.rows}x{product.inner}"
            right = f"{product.inner}x{product.columns}"
            items.append(f"{product.times} of {left} by {right}")
        return items or None

    def quantity(self, check: FlopsCheck) -> Quantity:  # noqa: ARG002
        return Quantity("flops")

    def max_count(self, trial: CaseTrial[FlopsCheck]) -> float:
        return trial.check.at_most * self.baseline(trial, trial.check.against)

    def assess(self, trial: CaseTrial[FlopsCheck], measured: api.Measured) -> CaseFinding:
        check = trial.check
        baseline_name = check.called or f"the run {check.against}"
        baseline = self.measure_reference(trial, check.against)
        flops = float(measured.value)
        baseline_flops = float(baseline.value)
        ratio = flops / self.baseline(trial, check.against)
        figures = {"ratio": ratio}
        line = f"{ratio:.3f}x {baseline_name}, {format_ratio(check.at_most)} allowed"
        if ratio > check.at_most:
            exhibit = api.make_bars(
                lambda value: f"{format_number(value)} FLOPs",
                ("yours", flops),
                ("allowed", check.at_most * baseline_flops),
                (baseline_name, baseline_flops),
            )
            return CaseFinding(
                f"{line} in case {trial.case.name}", exhibit=exhibit, figures=figures
            )
        if measured.elements > MAX_ELEMENTWISE_RATIO * baseline.elements:
            return trial.failing_finding(
                f"{measured.elements:,} element-wise results, {baseline.elements:,} in "
                f"{baseline_name}: a product written as multiply-and-sum costs FLOPs too",
                figures=figures,
            )
        return CaseFinding.for_pass(line, **figures)


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
        for index, name in enumerate(self.without):
            yield NameReference(("except", index), name, "input")
        if self.against is not None:
            yield NameReference(("against",), self.against, "run")
        name_kind: Literal["size", "number"] = "size" if self.against is None else "number"
        for name in sorted(amounts.names_in_amount(self.at_most)):
            yield NameReference(("at_most",), name, name_kind)


class MemoryKind(BudgetedKind[MemoryCheck]):
    """Compare bytes of the autograd graph with a budget, or with the reference in another run."""

    check_model = MemoryCheck
    needs_torch = True

    def run_check(self, evaluation: api.Evaluation, check: MemoryCheck) -> CheckResult:
        if check.device == "cuda":
            problem = self._cuda_problem(evaluation, check)
            if problem:
                return CheckResult(
                    check.id, check.kind, Verdict.SKIPPED, problem, stretch=check.stretch
                )
        return super().run_check(evaluation, check)

    def _cuda_problem(self, evaluation: api.Evaluation, check: MemoryCheck) -> str:
        """Return why this machine cannot measure the check, or "" if it can."""
        if not config.cuda_device_files():
            return "needs a CUDA device, which this machine does not have"
        try:  # a GPU may be too small, in use, or a slice of one
            for case in evaluation.cases_of(check):
                self.measure_reference(CaseTrial(evaluation, check, case))
        except api.BankProgramError as error:
            return f"cannot be measured on this machine's CUDA device: {error}"
        return ""

    def quantity(self, check: MemoryCheck) -> Quantity:
        name = "cuda-peak" if check.device == "cuda" else check.quantity
        return Quantity(name, without=tuple(check.without))

    def max_count(self, trial: CaseTrial[MemoryCheck]) -> float:
        check = trial.check
        if check.against is None:
            return super().max_count(trial)
        multiple = amounts.evaluate_amount(check.at_most, {})
        return multiple * self.baseline(trial, check.against)

    def pass_phrase(self, check: MemoryCheck) -> str:
        return _PHRASES[check.quantity]

    def assess(self, trial: CaseTrial[MemoryCheck], measured: api.Measured) -> CaseFinding:
        check = trial.check
        if check.against is None:
            return super().assess(trial, measured)
        size = float(measured.value)
        allowed = self.max_count(trial)
        baseline = self.baseline(trial, check.against)
        name = check.called or f"the run {check.against}"
        figures = {"bytes": size, "allowed": allowed, "ratio": size / baseline}
        line = f"{format_ratio(size / baseline)} {name}, {format_ratio(allowed / baseline)} allowed"
        if size <= allowed:
            return CaseFinding.for_pass(line, **figures)
        return CaseFinding(
            f"{line} in case {trial.case.name}",
            exhibit=self.budget_bars(trial, measured, (name, baseline)),
            figures=figures,
        )

    def varies_with_style(self, check: MemoryCheck) -> bool:
        return check.quantity == "peak"

    def count_items(self, check: MemoryCheck, measured: api.Measured, /) -> Sequence[str] | None:
        return None if check.quantity == "peak" else measured.kept

    def decides_on_every_machine(self, check: MemoryCheck) -> bool:
        return check.device == "cpu"
