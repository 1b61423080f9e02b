"""Check `state`: bytes that one function keeps for another.

Three accounts: every byte reachable from the object; the bytes that the steps left allocated,
which include what hides in a global (less an allowance for the interpreter's own small objects);
and, on the `large` case, the system's account of the process (see `evaluation.witness`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from pydantic import Field

from grader.kinds.base import api
from grader.kinds.counted import BudgetCheck, Budgeted, WatchedCheck
from grader.model.spec import Name


class StateCheck(BudgetCheck, WatchedCheck):
    """Bytes reachable from an object that one step hands to another."""

    kind: Literal["state"]
    of: Name = Field(description="What one step hands to another.")


class State(Budgeted[StateCheck]):
    """Count the bytes that are kept."""

    keys = StateCheck
    slow = True  # every allocation is traced
    shows_reference = False  # the budget says how little is enough

    def quantity(self, check: StateCheck) -> tuple[str, str, tuple[str, ...]]:
        return "state", check.of, ()

    def halves(self, evaluation: api.Evaluation, check: StateCheck) -> api.Halves | None:
        return api.divided(evaluation.steps(check.run), check.of)

    def over(self, _: api.Evaluation, check: StateCheck) -> str:
        return f"{{}} kept in {check.of}"

    def what(self, _: StateCheck, found: api.Measured, /) -> Sequence[str]:
        return found.kept
