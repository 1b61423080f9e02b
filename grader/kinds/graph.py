"""Checks of an autograd graph: where a tensor comes from, what it keeps, and what it costs.

Bytes and FLOPs are counts (see `worker.autograd`): the same on every machine, and decided without
tolerance.
"""

from __future__ import annotations

from dataclasses import replace

from grader.bench import measured, rss_probe
from grader.bench.bench import BankFault, Bench, producing, trusting
from grader.bench.tally import Finding, tally
from grader.cases import size_expr
from grader.cases.recipe import CaseRecipe
from grader.model.numerals import bytes_text, number, times
from grader.model.report import Bar, Bars, CheckResult
from grader.model.spec import FlopsCheck, GraphCheck, MemoryCheck
from grader.model.verdict import Verdict
from grader.sandbox.remote import RemoteProgram
from grader.sandbox.replies import Measured

ELEMENTWISE_ROOM = (
    8.0  # times the baseline's element-wise work; a matmul written that way is far beyond
)


def measure(
    bench: Bench,
    program: RemoteProgram,
    run: str,
    case: CaseRecipe,
    quantity: str,
    *,
    without: tuple[str, ...] = (),
    of: str = "",
) -> Measured:
    """Measure one program's run on one case."""
    every = bench.steps(run)
    steps = producing(every, of) if of else every
    return program.measure(
        quantity,
        steps,
        bench.inputs(case, run),
        without=without,
        of=of,
        rest=[step for step in every if step not in steps],
        want=bench.wanted[run],
    )


def baseline(bench: Bench, run: str, case: CaseRecipe, quantity: str) -> Measured:
    """Measure the reference's side of a comparison."""
    with trusting(f"the run {run} of the reference fails on case {case.name}"):
        return bench.fact(
            ("baseline", run, case.name, quantity),
            lambda: measure(bench, bench.reference, run, case, quantity),
        )


def check_graph(bench: Bench, check: GraphCheck) -> CheckResult:
    """The tensor comes out of a Function that the submission defines."""

    def judge(case: CaseRecipe) -> Finding | None:
        seen = _seen(bench, bench.submission, check, case)
        found = str(seen.value)
        if found == "own":
            return measured.otherwise(
                bench,
                check.run,
                case,
                seen.results,
                lambda: _seen(bench, bench.reference, check, case).results,
            )
        if found == "none":
            return Finding(
                f"{check.of} has no graph: nothing can flow back through it (case {case.name})"
            )
        if found.startswith(("CheckpointFunction", "_CheckpointFrame")):
            return Finding(
                f"{check.of} comes from torch.utils.checkpoint, "
                "not from an autograd.Function of yours"
            )
        return Finding(
            f"{check.of} comes from {found}, "
            f"not from an autograd.Function of yours (case {case.name})"
        )

    return tally(bench, check, judge)


def _other(check: MemoryCheck | FlopsCheck) -> str:
    return check.called or f"the run {check.against}"


def origin(bench: Bench, check: GraphCheck, case: CaseRecipe) -> str:
    """Which node the tensor comes from: `own`, a node's name, or `none`."""
    return str(_seen(bench, bench.submission, check, case).value)


def _seen(bench: Bench, program: RemoteProgram, check: GraphCheck, case: CaseRecipe) -> Measured:
    return measure(bench, program, check.run, case, "graph", of=check.of)


def check_memory(bench: Bench, check: MemoryCheck) -> CheckResult:
    """Hold bytes against a budget, or against another run of the reference."""
    if check.device == "cuda" and not has_cuda(bench):
        return CheckResult(
            check.id,
            check.kind,
            Verdict.SKIPPED,
            "needs a CUDA device, which this machine does not have",
            stretch=check.stretch,
        )
    figures: dict[str, float] = {}
    lines: list[str] = []

    def allowed(case: CaseRecipe) -> tuple[float, float | None]:
        """The budget on a case, and what it is a multiple of, if it is one."""
        if check.against is not None:
            base = max(1.0, float(baseline(bench, check.against, case, _quantity(check)).value))
            return size_expr.value(check.at_most, {}) * base, base
        try:
            return size_expr.value(check.at_most, bench.known(check.run, case)), None
        except size_expr.AmountError as error:
            raise BankFault(f"{check.id}: {error}") from None

    def judge(case: CaseRecipe) -> Finding | None:
        found = kept(bench, check, case)
        mine = float(found.value)
        budget, base = allowed(case)
        bars = []
        if base is not None:
            bars.append(Bar(_other(check), base, bytes_text(base)))
            figures.update(ratio=mine / base)
            lines[:] = [f"{times(mine / base)} {_other(check)}, {times(budget / base)} allowed"]
        else:
            lines[:] = [f"{bytes_text(mine)} {_words(check)}, {bytes_text(budget)} allowed"]
        figures.update(bytes=mine, allowed=budget)
        if mine <= budget:
            return (
                None
                if check.device == "cuda"
                else measured.otherwise(
                    bench,
                    check.run,
                    case,
                    found.results,
                    lambda: _of(bench, bench.reference, check, case).results,
                )
            )
        with trusting(f"the reference fails on case {case.name}"):
            theirs = float(_of(bench, bench.reference, check, case).value)
        bars += [
            Bar("yours", mine, bytes_text(mine)),
            Bar("allowed", budget, bytes_text(budget)),
            Bar("reference", theirs, bytes_text(theirs)),
        ]
        details = tuple(f"{what}  {bytes_text(size)}" for what, size in found.details)
        excess = f" ({times(mine / budget)})" if budget > 0 else ""
        return Finding(
            f"{lines[0]}{excess if check.against is None else ''} in case {case.name}",
            exhibit=Bars(tuple(bars), details),
        )

    def outside(case: CaseRecipe) -> Finding | None:
        # What is alive after the forward is no more than the peak.
        at_rest = check.quantity != "peak"
        own, budget = float(kept(bench, check, case).value), allowed(case)[0]
        if not at_rest:
            found = rss_probe.towering(bench, check.run, case, own=own, budget=budget)
            if found is not None:
                return found
        return rss_probe.unseen(
            bench,
            check.run,
            case,
            of="",
            own=own,
            budget=budget,
            room=rss_probe.OWN_OBJECTS,
            needed=lambda: (
                float(_of(bench, bench.reference, check, case).value) if at_rest else 0.0
            ),
        )

    result = tally(bench, check, judge, figures=figures)
    if (
        result.verdict is Verdict.PASS
        and check.device == "cpu"
        and not _seen_by_another(bench, check)
    ):
        result = rss_probe.beside(bench, check, result, outside)
    return replace(result, message=lines[0]) if result.verdict is Verdict.PASS and lines else result


def _seen_by_another(bench: Bench, check: MemoryCheck) -> bool:
    """Whether a later check of what is alive looks at the same run: it sees all that is saved."""
    return check.quantity == "saved" and any(
        isinstance(other, MemoryCheck) and other.quantity == "live" and other.run == check.run
        for other in bench.question.spec.checks
    )


def kept(bench: Bench, check: MemoryCheck, case: CaseRecipe) -> Measured:
    """What the check measures, of the submission."""
    return _of(bench, bench.submission, check, case)


def _of(bench: Bench, program: RemoteProgram, check: MemoryCheck, case: CaseRecipe) -> Measured:
    return measure(bench, program, check.run, case, _quantity(check), without=tuple(check.without))


def _quantity(check: MemoryCheck) -> str:
    return "cuda-peak" if check.device == "cuda" else check.quantity


def _words(check: MemoryCheck) -> str:
    return {"saved": "kept for backward", "live": "alive after forward", "peak": "at the peak"}[
        check.quantity
    ]


def has_cuda(bench: Bench) -> bool:
    """Whether the workers see a CUDA device."""
    with trusting("the reference's worker fails"):
        return bool(bench.reference.worker.ask({"op": "facts"}).get("cuda"))


def check_flops(bench: Bench, check: FlopsCheck) -> CheckResult:
    """Hold matmul FLOPs against another run of the reference."""
    figures: dict[str, float] = {}
    lines: list[str] = []

    def judge(case: CaseRecipe) -> Finding | None:
        mine = measure(bench, bench.submission, check.run, case, "flops")
        base = baseline(bench, check.against, case, "flops")
        ratio = float(mine.value) / max(1.0, float(base.value))
        figures.update(ratio=ratio)
        lines[:] = [f"{ratio:.3f}x {_other(check)}, {times(check.at_most)} allowed"]
        if ratio > check.at_most:
            bars = [
                ("yours", float(mine.value)),
                ("allowed", check.at_most * float(base.value)),
                (_other(check), float(base.value)),
            ]
            exhibit = Bars(tuple(Bar(label, v, f"{number(v)} FLOPs") for label, v in bars))
            return Finding(f"{lines[0]} in case {case.name}", exhibit=exhibit)
        if mine.elements > ELEMENTWISE_ROOM * base.elements:
            return Finding(
                f"{mine.elements:,} element-wise results, {base.elements:,} in {_other(check)}: "
                f"a product written as multiply-and-sum costs FLOPs too (case {case.name})"
            )
        return measured.otherwise(
            bench,
            check.run,
            case,
            mine.results,
            lambda: measure(bench, bench.reference, check.run, case, "flops").results,
        )

    result = tally(bench, check, judge, figures=figures)
    return replace(result, message=lines[0]) if result.verdict is Verdict.PASS and lines else result
