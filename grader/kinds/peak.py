"""Check `peak`: the most bytes that numpy and Python allocate at once while one step goes on.

tracemalloc sees every array of numpy's, however short its life, and every object of Python's.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from grader.kinds.base import api
from grader.kinds.counted import BudgetCheck, Budgeted
from grader.model.spec import Name


class PeakCheck(BudgetCheck):
    """Bytes that are allocated at once."""

    kind: Literal["peak"]
    of: Name = Field(
        description="A result: the step that gives it is looked at, and none before it. The "
        "result counts, inputs do not."
    )


class Peak(Budgeted[PeakCheck]):
    """Count the bytes that are allocated at once."""

    keys = PeakCheck
    without_torch = True
    slow = True  # every allocation is traced

    def quantity(self, check: PeakCheck) -> tuple[str, str, tuple[str, ...]]:
        return "allocated", check.of, ()

    def does(self, check: PeakCheck) -> str:  # noqa: ARG002
        return "at once"

    def over(self, evaluation: api.Evaluation, check: PeakCheck) -> str:
        function = api.producing(evaluation.steps(check.run), check.of)[-1].function
        return f"{function} allocates {{}} at once"

    def by_style(self, check: PeakCheck) -> bool:  # noqa: ARG002
        return True
