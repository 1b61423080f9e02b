"""Check `state`: bytes that one function keeps for another.

Three accounts: every byte reachable from the object; the bytes that the steps left allocated,
which include what hides in a global (less an allowance for the interpreter's own small objects);
and, on the `large` case, the system's account of the process (see `evaluation.witness`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from pydantic import Field

from grader.cases.dataflow import divided
from grader.kinds.base import CheckResult, api
from grader.kinds.counted import BudgetCheck, Counted
from grader.model.keys import Name
from grader.model.numerals import bytes_text, times

OWN_OBJECTS = 4 << 10  # bytes that a step may leave behind without being asked: caches, an iterator


class StateCheck(BudgetCheck):
    """Bytes reachable from an object that one step hands to another."""

    kind: Literal["state"]
    of: Name = Field(description="What one step hands to another.")


class State(Counted[StateCheck]):
    """Count bytes in the worker, and believe the system if it sees more."""

    keys = StateCheck
    slow = True  # every allocation is traced
    shows_measurement = True

    def carry_out(self, evaluation: api.Evaluation, check: StateCheck) -> CheckResult:
        """Hold the bytes kept against the budget on every case."""
        counted = super().carry_out(evaluation, check)
        steps = evaluation.steps(check.run)
        return api.confirmed(
            evaluation,
            check,
            counted,
            check.large,
            api.halves(steps, *divided(steps, check.of)),
            lambda case: api.amount(evaluation, check, check.at_most, case),
        )

    def what(self, _: StateCheck, found: api.Measured, /) -> Sequence[str]:
        """Every array that the object leads to."""
        return found.kept

    def measure(
        self,
        evaluation: api.Evaluation,
        program: api.RemoteProgram,
        check: StateCheck,
        case: api.Case,
    ) -> api.Measured:
        """Bytes."""
        kept = _kept(evaluation, program, check, case)
        return api.Measured(_size(kept), kept=kept.kept)

    def assess(
        self, evaluation: api.Evaluation, check: StateCheck, case: api.Case, found: api.Measured
    ) -> api.Finding:
        """The bytes kept against the budget."""
        kept, allowed = float(found.value), api.amount(evaluation, check, check.at_most, case)
        figures = {"kept": kept, "allowed": allowed}
        if kept <= allowed:
            line = f"{bytes_text(kept)} kept, {bytes_text(allowed)} allowed"
            return api.Finding.passed(line, **figures)
        sentence = f"{bytes_text(kept)} kept in {check.of}, {bytes_text(allowed)} allowed"
        if allowed > 0:
            sentence += f" ({times(kept / allowed)})"
        exhibit = api.bars(bytes_text, ("yours", kept), ("allowed", allowed))
        return api.Finding(f"{sentence} in case {case.name}", exhibit=exhibit, figures=figures)


def _kept(
    evaluation: api.Evaluation, program: api.RemoteProgram, check: StateCheck, case: api.Case
) -> api.Kept:
    """What a program keeps; found out once."""
    steps = divided(evaluation.steps(check.run), check.of)[0]
    inputs = evaluation.inputs(case, check.run)

    def ask(asked: api.RemoteProgram) -> api.Kept:
        return asked.state(steps, inputs, check.of)

    key = ("kept", check.run, case.name, check.of)
    return evaluation.remember(program, key, lambda: evaluation.asked(case, ask, program))


def _size(kept: api.Kept) -> int:
    return max(kept.reachable, kept.allocated - OWN_OBJECTS)
