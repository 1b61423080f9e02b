"""What kinds share whose worker counts while a run goes on: bytes, operations, where it came from.

The counts are the same on every machine, and decided without tolerance.  They are the word of the
process that the submission runs in; of bytes there is a witness (see `evaluation.witness`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import ClassVar, Literal, TypeVar

from pydantic import Field

from grader.cases import size_expr
from grader.kinds.base import Check, CheckResult, Count, K, Kind, api
from grader.model.numerals import bytes_text, times
from grader.model.spec import Amount, Mention, Name, Slug


class WatchedCheck(Check):
    """Bytes that are kept, with a witness from outside the process."""

    large: Slug | Literal[""] = Field(
        default="",
        description="Another case, on which the process is watched from outside too; what is too "
        "much there is hundreds of kilobytes.",
    )

    def mentions(self) -> Iterator[Mention]:
        yield from super().mentions()
        if self.large:
            yield Mention(("large",), self.large, "case")


class BudgetCheck(Check):
    """Bytes of one result, or of the step that gives it, within a budget."""

    of: Name = Field(description="The result.")
    at_most: Amount = Field(
        description="The budget: arithmetic over sizes of the case, '8 * y.size + 256 bytes'."
    )

    @property
    def wanted(self) -> tuple[str, ...]:
        """Nothing: other checks look at results, and what is kept stays in the worker."""
        return ()

    def mentions(self) -> Iterator[Mention]:
        yield from super().mentions()
        for name in sorted(size_expr.names(self.at_most)):
            yield Mention(("at_most",), name, "size")


B = TypeVar("B", bound=Check)


class Counted(Kind[K]):
    """Judge what was counted."""

    long_limit = True

    def quantity(self, check: K) -> tuple[str, str, tuple[str, ...]]:
        """What is measured, of which result if of one, and without which inputs."""
        raise NotImplementedError

    def assess(
        self, evaluation: api.Evaluation, check: K, case: api.Case, found: api.Measured, /
    ) -> api.Finding:
        """What follows from the submission's count."""
        raise NotImplementedError

    def measure(
        self, evaluation: api.Evaluation, program: api.RemoteProgram, check: K, case: api.Case
    ) -> api.Measured:
        """What the worker of a program counts."""
        return api.measure(evaluation, program, check.run, case, *self.quantity(check))

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


class Budgeted(Counted[B]):
    """Hold bytes against a budget, then have the process confirm what is kept."""

    shows_measurement = True
    shows_reference: ClassVar[bool] = True  # beside what is too much

    def halves(self, evaluation: api.Evaluation, check: B) -> api.Halves | None:  # noqa: ARG002
        """The run as the witness looks at it, before and after; None where it does not."""
        return None

    def allowed(self, evaluation: api.Evaluation, check: B, case: api.Case) -> float:
        """The budget on a case."""
        return api.amount(evaluation, check, vars(check)["at_most"], case)

    def carry_out(self, evaluation: api.Evaluation, check: B) -> CheckResult:
        counted = super().carry_out(evaluation, check)
        halves = self.halves(evaluation, check)
        if halves is None:
            return counted
        return api.confirmed(
            evaluation, check, counted, halves, lambda case: self.allowed(evaluation, check, case)
        )

    def does(self, check: B) -> str:  # noqa: ARG002
        """What is done with the bytes, in a pass."""
        return "kept"

    def over(self, evaluation: api.Evaluation, check: B) -> str:
        """The beginning of the sentence on bytes above the budget, with a place for them."""
        raise NotImplementedError

    def assess(
        self, evaluation: api.Evaluation, check: B, case: api.Case, found: api.Measured
    ) -> api.Finding:
        size, allowed = float(found.value), self.allowed(evaluation, check, case)
        figures = {"bytes": size, "allowed": allowed}
        tail = f"{bytes_text(allowed)} allowed"
        if size <= allowed:
            return api.Finding.passed(f"{bytes_text(size)} {self.does(check)}, {tail}", **figures)
        line = f"{self.over(evaluation, check).format(bytes_text(size))}, {tail}"
        line += f" ({times(size / allowed)})" if allowed > 0 else ""
        exhibit = self.bars(evaluation, check, case, found)
        return api.Finding(f"{line} in case {case.name}", exhibit=exhibit, figures=figures)

    def bars(
        self,
        evaluation: api.Evaluation,
        check: B,
        case: api.Case,
        found: api.Measured,
        *others: tuple[str, float],
    ) -> api.Bars:
        """The count beside the budget and the reference's."""
        bars = [*others, ("yours", float(found.value))]
        bars.append(("allowed", self.allowed(evaluation, check, case)))
        if self.shows_reference:
            with api.blame_bank(f"the reference fails on case {case.name}"):
                theirs = self.measure(evaluation, evaluation.reference, check, case)
            bars.append(("reference", float(theirs.value)))
        return api.bars(
            bytes_text,
            *bars,
            details=tuple(f"{what}  {bytes_text(n)}" for what, n in found.details),
        )
