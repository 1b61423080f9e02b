"""Check `state`: bytes that one function keeps for another.

Three witnesses: every byte reachable from the object; the bytes that the steps left allocated,
which include what hides in a global (less an allowance for the interpreter's own small objects);
and the system's account of the process, in which nobody inside it has a say.
"""

from __future__ import annotations

from dataclasses import replace

from grader.bank import amounts
from grader.bank.consistency import free_names
from grader.cases.recipe import CaseRecipe
from grader.checks import witness
from grader.checks.bench import BankFault, Bench, producing
from grader.checks.tally import Finding, tally
from grader.model.numerals import bytes_text, times
from grader.model.report import Bar, Bars, CheckResult
from grader.model.spec import StateCheck
from grader.model.verdict import Verdict
from grader.programs.program import Program

OWN_OBJECTS = 4 << 10  # bytes that a step may leave behind without being asked: caches, an iterator


def measure_state(bench: Bench, check: StateCheck, case: CaseRecipe) -> int:
    """Bytes that the submission keeps on one case."""
    return _kept(bench, bench.submission, check, case)[0]


def _kept(bench: Bench, program: Program, check: StateCheck, case: CaseRecipe) -> tuple[int, int]:
    """Bytes that a program keeps, and what Python's objects for them take besides."""
    steps = producing(bench.steps(check.run), check.of)
    every = bench.inputs(case, check.run)
    given = {name: every[name] for name in free_names(steps)}
    reachable, allocated, added = program.state(steps, given, check.of)
    return max(reachable, allocated - OWN_OBJECTS), added


def check_state(bench: Bench, check: StateCheck) -> CheckResult:
    """Hold the bytes kept against the budget on every case."""
    figures: dict[str, float] = {}
    lines: list[str] = []

    def budget(case: CaseRecipe) -> float:
        try:
            return amounts.value(check.at_most, bench.known(check.run, case))
        except amounts.AmountError as error:
            raise BankFault(f"{check.id}: {error}") from None

    def judge(case: CaseRecipe) -> Finding | None:
        allowed = budget(case)
        kept = measure_state(bench, check, case)
        figures.update(kept=float(kept), allowed=allowed)
        lines[:] = [f"{bytes_text(kept)} kept, {bytes_text(allowed)} allowed"]
        if kept <= allowed:
            return None
        bars = Bars(
            (Bar("yours", kept, bytes_text(kept)), Bar("allowed", allowed, bytes_text(allowed)))
        )
        sentence = f"{bytes_text(kept)} kept in {check.of}, {bytes_text(allowed)} allowed"
        if allowed > 0:
            sentence += f" ({times(kept / allowed)})"
        return Finding(f"{sentence} in case {case.name}", exhibit=bars)

    def outside(case: CaseRecipe) -> Finding | None:
        own, added = _kept(bench, bench.submission, check, case)
        allowed = budget(case)
        return witness.unseen(
            bench,
            check.run,
            case,
            of=check.of,
            own=own,
            budget=allowed,
            # A list of numbers takes five times its data.
            room=OWN_OBJECTS + min(added, 5 * allowed),
            needed=lambda: _kept(bench, bench.reference, check, case)[0],
        )

    result = tally(bench, check, judge, figures=figures)
    if result.verdict is Verdict.PASS:
        result = witness.beside(bench, check, result, outside)
    return replace(result, message=lines[0]) if result.verdict is Verdict.PASS and lines else result
