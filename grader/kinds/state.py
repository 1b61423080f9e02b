"""Check `state`: bytes that one function keeps for another.

Three witnesses: every byte reachable from the object; the bytes that the steps left allocated,
which include what hides in a global (less an allowance for the interpreter's own small objects);
and the system's account of the process, in which nobody inside it has a say.
"""

from __future__ import annotations

from dataclasses import replace

from grader.bench import measured, rss_probe
from grader.bench.bench import BankFault, Bench, producing
from grader.bench.tally import Finding, tally
from grader.cases import size_expr
from grader.cases.recipe import CaseRecipe
from grader.model.numerals import bytes_text, times
from grader.model.report import Bar, Bars, CheckResult
from grader.model.spec import StateCheck
from grader.model.verdict import Verdict
from grader.sandbox.remote import RemoteProgram
from grader.sandbox.replies import Kept

OWN_OBJECTS = 4 << 10  # bytes that a step may leave behind without being asked: caches, an iterator


def measure_state(bench: Bench, check: StateCheck, case: CaseRecipe) -> int:
    """Bytes that the submission keeps on one case."""
    return _size(_kept(bench, bench.submission, check, case))


def _kept(bench: Bench, program: RemoteProgram, check: StateCheck, case: CaseRecipe) -> Kept:
    """What a program keeps, and what its run comes to with it."""
    every = bench.steps(check.run)
    steps = producing(every, check.of)
    rest = tuple(step for step in every if step not in steps)
    want = bench.wanted[check.run]
    return program.state(steps, bench.inputs(case, check.run), check.of, rest=rest, want=want)


def _size(kept: Kept) -> int:
    return max(kept.reachable, kept.allocated - OWN_OBJECTS)


def check_state(bench: Bench, check: StateCheck) -> CheckResult:
    """Hold the bytes kept against the budget on every case."""
    figures: dict[str, float] = {}
    lines: list[str] = []

    def budget(case: CaseRecipe) -> float:
        try:
            return size_expr.value(check.at_most, bench.known(check.run, case))
        except size_expr.AmountError as error:
            raise BankFault(f"{check.id}: {error}") from None

    def judge(case: CaseRecipe) -> Finding | None:
        allowed = budget(case)
        found = _kept(bench, bench.submission, check, case)
        kept = _size(found)
        figures.update(kept=float(kept), allowed=allowed)
        lines[:] = [f"{bytes_text(kept)} kept, {bytes_text(allowed)} allowed"]
        if kept <= allowed:
            return measured.otherwise(
                bench,
                check.run,
                case,
                found.results,
                lambda: _kept(bench, bench.reference, check, case).results,
            )
        bars = Bars(
            (Bar("yours", kept, bytes_text(kept)), Bar("allowed", allowed, bytes_text(allowed)))
        )
        sentence = f"{bytes_text(kept)} kept in {check.of}, {bytes_text(allowed)} allowed"
        if allowed > 0:
            sentence += f" ({times(kept / allowed)})"
        return Finding(f"{sentence} in case {case.name}", exhibit=bars)

    def outside(case: CaseRecipe) -> Finding | None:
        found = _kept(bench, bench.submission, check, case)
        allowed = budget(case)
        return rss_probe.unseen(
            bench,
            check.run,
            case,
            of=check.of,
            own=_size(found),
            budget=allowed,
            # A list of numbers takes five times its data.
            room=OWN_OBJECTS + min(found.added, 5 * allowed),
            needed=lambda: _size(_kept(bench, bench.reference, check, case)),
        )

    result = tally(bench, check, judge, figures=figures)
    if result.verdict is Verdict.PASS:
        result = rss_probe.beside(bench, check, result, outside)
    return replace(result, message=lines[0]) if result.verdict is Verdict.PASS and lines else result
