"""Check `memory`: bytes of an autograd graph, against a budget or another run of the reference.

They are counts (see `worker.autograd`): the same on every machine, and decided without tolerance.
A pass by them is then held against the system's own account of the process.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from pydantic import Field

from grader.cases import size_expr
from grader.kinds.base import Count, Kind
from grader.model.numerals import bytes_text, times
from grader.model.report import Bar, Bars, CheckResult
from grader.model.spec import Amount, Check, Mention, Name, RunName, Slug
from grader.model.verdict import Verdict

if TYPE_CHECKING:
    from grader.bench.bench import Bench
    from grader.bench.tally import Finding
    from grader.cases.recipe import CaseRecipe
    from grader.sandbox.remote import RemoteProgram
    from grader.sandbox.replies import Measured

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

    def budget(self) -> tuple[str, str]:
        """Bytes, or times."""
        return str(self.at_most), "bytes"


class Memory(Kind[MemoryCheck]):
    """Count bytes in the worker, and believe the system if it sees more."""

    keys = MemoryCheck
    needs_torch = True
    long_limit = True
    shows_measurement = True

    def carry_out(self, bench: Bench, check: MemoryCheck) -> CheckResult:
        """Hold bytes against a budget, or against another run of the reference."""
        from grader.bench import rss_probe
        from grader.bench.bench import trusting
        from grader.bench.tally import tally

        if check.device == "cuda":
            with trusting("the reference's worker fails"):
                has_cuda = bench.reference.has_cuda()
            if not has_cuda:
                return CheckResult(
                    check.id,
                    check.kind,
                    Verdict.SKIPPED,
                    "needs a CUDA device, which this machine does not have",
                    stretch=check.stretch,
                )
        result = tally(bench, check, lambda case: _judge(bench, check, case))
        counted = result.verdict is Verdict.PASS and check.device == "cpu"
        if counted and not _covered_by_another(bench, check):
            return rss_probe.confirmed(
                bench, check, result, lambda case: _outside(bench, check, case), check.large
            )
        return result

    def is_observed(self, check: MemoryCheck) -> bool:
        """Not where the machine may lack the device."""
        return check.device == "cpu"

    def observe(self, bench: Bench, check: MemoryCheck, case: CaseRecipe) -> Count:
        """Bytes."""
        return Count(_bytes(bench, bench.submission, check, case))

    def by_style(self, check: MemoryCheck) -> bool:
        """The peak of temporaries is."""
        return check.quantity == "peak"

    def cost(self, check: MemoryCheck) -> int:
        """Peaks come last: hardly two programs agree in them."""
        return 2 if self.by_style(check) else 0

    def decides_anywhere(self, check: MemoryCheck) -> bool:
        """Not where the machine may lack the device."""
        return check.device == "cpu"


def _judge(bench: Bench, check: MemoryCheck, case: CaseRecipe) -> Finding:
    from grader.bench.bench import trusting
    from grader.bench.measured import differs_when_measured
    from grader.bench.tally import Finding

    found = _measured(bench, bench.submission, check, case)
    size = float(found.value)
    budget, base = _allowed(bench, check, case)
    bars = []
    figures = {"bytes": size, "allowed": budget}
    if base is not None:
        other = check.called or f"the run {check.against}"
        bars.append(Bar(other, base, bytes_text(base)))
        figures["ratio"] = size / base
        line = f"{times(size / base)} {other}, {times(budget / base)} allowed"
    else:
        line = f"{bytes_text(size)} {_WORDS[check.quantity]}, {bytes_text(budget)} allowed"
    if size <= budget:
        flagged = None
        if check.device == "cpu":
            flagged = differs_when_measured(
                bench,
                check.run,
                case,
                found.results,
                lambda: _measured(bench, bench.reference, check, case).results,
            )
        passed = Finding.passed(line, **figures)
        return passed if flagged is None else replace(flagged, figures=figures)
    with trusting(f"the reference fails on case {case.name}"):
        reference = _bytes(bench, bench.reference, check, case)
    bars += [
        Bar("yours", size, bytes_text(size)),
        Bar("allowed", budget, bytes_text(budget)),
        Bar("reference", reference, bytes_text(reference)),
    ]
    details = tuple(f"{what}  {bytes_text(n)}" for what, n in found.details)
    excess = f" ({times(size / budget)})" if budget > 0 and base is None else ""
    return Finding(
        f"{line}{excess} in case {case.name}", exhibit=Bars(tuple(bars), details), figures=figures
    )


def _outside(bench: Bench, check: MemoryCheck, case: CaseRecipe) -> Finding | None:
    """What the system sees of it, and the counts inside do not."""
    from grader.bench import rss_probe

    counted = _bytes(bench, bench.submission, check, case)
    budget = _allowed(bench, check, case)[0]
    # What is alive after the forward is no more than the peak.
    at_rest = check.quantity != "peak"
    if not at_rest:
        found = rss_probe.hidden_peak(bench, check.run, case, counted=counted, budget=budget)
        if found is not None:
            return found
    return rss_probe.hidden_memory(
        bench,
        check.run,
        case,
        of="",
        counted=counted,
        budget=budget,
        room=rss_probe.OWN_OBJECTS,
        needed=lambda: _bytes(bench, bench.reference, check, case) if at_rest else 0.0,
    )


def _allowed(bench: Bench, check: MemoryCheck, case: CaseRecipe) -> tuple[float, float | None]:
    """The budget on a case, and what it is a multiple of, if it is one."""
    from grader.bench.measured import amount, baseline

    if check.against is None:
        return amount(bench, check, check.at_most, case), None
    base = max(1.0, float(baseline(bench, check.against, case, _quantity(check)).value))
    return size_expr.value(check.at_most, {}) * base, base


def _covered_by_another(bench: Bench, check: MemoryCheck) -> bool:
    """Whether a later check of what is alive looks at the same run: it sees all that is saved."""
    return check.quantity == "saved" and any(
        isinstance(other, MemoryCheck) and other.quantity == "live" and other.run == check.run
        for other in bench.question.spec.checks
    )


def _bytes(bench: Bench, program: RemoteProgram, check: MemoryCheck, case: CaseRecipe) -> float:
    return float(_measured(bench, program, check, case).value)


def _measured(
    bench: Bench, program: RemoteProgram, check: MemoryCheck, case: CaseRecipe
) -> Measured:
    from grader.bench.measured import measure

    without = tuple(check.without)
    return measure(bench, program, check.run, case, _quantity(check), without=without)


def _quantity(check: MemoryCheck) -> str:
    return "cuda-peak" if check.device == "cuda" else check.quantity
