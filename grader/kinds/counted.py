"""What kinds share whose worker counts while a run goes on: bytes, operations, where it came from.

The counts are the same on every machine, and decided without tolerance.  They are the word of the
process that the submission runs in; of bytes there is a witness (see `evaluation.witness`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

from pydantic import Field

from grader.cases import size_expr
from grader.kinds.base import Check, Count, K, Kind, api
from grader.model.keys import Amount, Mention, Name, Slug


class BudgetCheck(Check):
    """Bytes of one result, or of the step that gives it, within a budget."""

    of: Name = Field(description="The result.")
    at_most: Amount = Field(
        description="The budget: arithmetic over sizes of the case, '8 * y.size + 256 bytes'."
    )
    large: Slug | Literal[""] = Field(
        default="",
        description="Another case, on which only the system's own account is taken; tens of "
        "kilobytes or more.",
    )

    @property
    def wanted(self) -> tuple[str, ...]:
        """Nothing: other checks look at results, and what is kept stays in the worker."""
        return ()

    def mentions(self) -> Iterator[Mention]:
        """The result, the large case, and what the budget is made of."""
        yield from super().mentions()
        if self.large:
            yield Mention(("large",), self.large, "case")
        for name in sorted(size_expr.names(self.at_most)):
            yield Mention(("at_most",), name, "size")


class Counted(Kind[K]):
    """Judge what was counted."""

    long_limit = True

    def measure(
        self, evaluation: api.Evaluation, program: api.RemoteProgram, check: K, case: api.Case
    ) -> api.Measured:
        """What the worker of a program counts."""
        raise NotImplementedError

    def assess(
        self, evaluation: api.Evaluation, check: K, case: api.Case, found: api.Measured, /
    ) -> api.Finding:
        """What follows from the submission's count."""
        raise NotImplementedError

    def judge(self, evaluation: api.Evaluation, check: K, case: api.Case) -> api.Finding:
        found = self.measure(evaluation, evaluation.submission, check, case)
        return self.assess(evaluation, check, case, found)

    def observe(self, evaluation: api.Evaluation, check: K, case: api.Case) -> Count | str:
        """The count, and what it is a count of."""
        found = self.measure(evaluation, evaluation.submission, check, case)
        if isinstance(found.value, str):
            return found.value
        what = self.what(check, found)
        return Count(found.value, None if what is None else tuple(sorted(what)))

    def what(self, check: K, found: api.Measured, /) -> Sequence[str] | None:  # noqa: ARG002
        """What was counted, a word for each thing; None where only their number is known."""
        return None
