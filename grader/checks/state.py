"""Check `state`: bytes that one function keeps for another.

Two witnesses: every byte reachable from the object, and the bytes that the steps left allocated.
The second also sees what hides in a global; it allows for the interpreter's own small objects.
"""

from __future__ import annotations

from grader.bank import amounts
from grader.cases.recipe import CaseRecipe
from grader.checks.bench import BankFault, Bench, producing
from grader.checks.tally import Finding, tally
from grader.model.numerals import bytes_text, times
from grader.model.report import Bar, Bars, CheckResult
from grader.model.spec import StateCheck

OWN_OBJECTS = 16 << 10  # bytes of Python objects that a step may leave behind without being asked


def measure_state(bench: Bench, check: StateCheck, case: CaseRecipe) -> int:
    """Bytes that the submission keeps on one case."""
    steps = producing(bench.steps(check.run), check.of)
    inputs = bench.inputs(case, check.run)
    needed = {name for step in steps for name in step.reads}
    given = {name: spec for name, spec in inputs.items() if name in needed}
    reachable, allocated = bench.submission.state(steps, given, check.of)
    return max(reachable, allocated - OWN_OBJECTS)


def check_state(bench: Bench, check: StateCheck) -> CheckResult:
    """Hold the bytes kept against the budget on every case."""
    figures: dict[str, float] = {}
    lines: list[str] = []

    def judge(case: CaseRecipe) -> Finding | None:
        try:
            budget = amounts.value(check.at_most, bench.known(check.run, case))
        except amounts.AmountError as error:
            raise BankFault(f"{check.id}: {error}") from None
        kept = measure_state(bench, check, case)
        figures.update(kept=float(kept), allowed=budget)
        lines[:] = [f"{bytes_text(kept)} kept, {bytes_text(budget)} allowed"]
        if kept <= budget:
            return None
        bars = Bars(
            (Bar("yours", kept, bytes_text(kept)), Bar("allowed", budget, bytes_text(budget)))
        )
        sentence = f"{bytes_text(kept)} kept in {check.of}, {bytes_text(budget)} allowed"
        if budget > 0:
            sentence += f" ({times(kept / budget)})"
        return Finding(f"{sentence} in case {case.name}", exhibit=bars)

    result = tally(bench, check, judge, figures=figures)
    if result.verdict == "pass" and lines:
        from dataclasses import replace

        return replace(result, message=lines[0])
    return result
