"""What kinds share whose worker counts while a run goes on: bytes, operations, where it came from.

The counts (see `worker.autograd`) are the same on every machine, and decided without tolerance.

A program can tell from its own stack that it is being measured, and keep less than it needs while
it is.  So a measured run goes on to its end, and has to come to the right results, or to those to
which the program comes when nobody measures it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

from pydantic import Field

from grader.cases import size_expr
from grader.kinds.base import Check, Count, K, Kind, api
from grader.model.keys import Amount, Mention, Name, Slug
from grader.model.verdict import Verdict


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
    """Judge what was counted, and that the run computes what it does when nobody counts."""

    long_limit = True

    def measure(
        self, evaluation: api.Evaluation, program: api.RemoteProgram, check: K, case: api.Case
    ) -> api.Measured:
        """What the worker of a program counts, and the results of the run."""
        raise NotImplementedError

    def assess(
        self, evaluation: api.Evaluation, check: K, case: api.Case, found: api.Measured, /
    ) -> api.Finding:
        """What follows from the submission's count alone."""
        raise NotImplementedError

    def meant(
        self, _evaluation: api.Evaluation, _check: K, _name: str, value: api.Value, /
    ) -> api.Value:
        """What a result of the measured run has to be, where it is this one of any other run."""
        return value

    def judge(self, evaluation: api.Evaluation, check: K, case: api.Case) -> api.Finding:
        """A pass by the count, unless the run computes something else because it is counted.

        Where the reference, counted likewise, does not repeat its results either, the question
        leaves something to chance, and nothing follows.
        """
        found = self.measure(evaluation, evaluation.submission, check, case)
        finding = self.assess(evaluation, check, case, found)
        if finding.verdict is not Verdict.PASS:
            return finding
        try:
            usual = evaluation.observed(check.run, case).values
        except api.ProgramError:
            return finding  # the same inputs make it fail, and other checks say so
        right, results = evaluation.truth(check.run, case).values, found.results
        for name in _carried_on_to(evaluation, check):
            value = None if results is None else results.get(name)
            meant = [self.meant(evaluation, check, name, v.get(name)) for v in (usual, right)]
            if any(api.same_value(value, one, case.dtype) for one in meant):
                continue
            with api.blame_bank(f"the reference fails on case {case.name}"):
                again = self.measure(evaluation, evaluation.reference, check, case).results or {}
            if api.same_value(again.get(name), meant[-1], case.dtype):
                what = "your code fails" if results is None else f"{name} is another"
                sentence = (
                    f"flagged for review: {what} when what it keeps or costs is measured, and "
                    f"only then (case {case.name})"
                )
                return api.Finding(sentence, Verdict.POLICY, figures=finding.figures)
        return finding

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


def _carried_on_to(evaluation: api.Evaluation, check: Check) -> list[str]:
    """The results to which a measured run comes: all, or those that can follow what is measured."""
    wanted, of = evaluation.wanted[check.run], getattr(check, "of", "")
    if not of:
        return list(wanted)
    first, rest = api.divided(evaluation.steps(check.run), of)
    made = api.results((*first, *rest))
    return [name for name in wanted if name in made]
