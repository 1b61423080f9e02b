"""What is wrong with a submission, cell by cell: a component on one case."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from grader.evaluation.compare import fault_of
from grader.evaluation.evaluation import Evaluation
from grader.explain.observing import Component, components, differing, is_fault, observed, same_on
from grader.model.report import CheckResult
from grader.model.verdict import Verdict

Cell = tuple[Component, str]
FAILED = {Verdict.FAIL, Verdict.ERROR, Verdict.LIMIT}


@dataclass(frozen=True)
class Failure:
    """A submission that did not pass, and the reference that it is held against."""

    mine: Evaluation
    reference: Evaluation
    checks: Sequence[CheckResult]

    @classmethod
    def of(cls, evaluation: Evaluation, checks: Sequence[CheckResult]) -> Failure:
        """The failure of the evaluation's submission."""
        return cls(evaluation, evaluation.with_bank_program(evaluation.reference), checks)

    @cached_property
    def everything(self) -> list[Component]:
        """All that checks look at: values, then dtypes, then what is measured."""
        return components(self.mine)

    @cached_property
    def values(self) -> list[Component]:
        """The results and their dtypes."""
        return [c for c in self.everything if c.measured_by is None]

    @cached_property
    def firsts(self) -> list[Cell]:
        """One case of each result."""
        return [(c, c.cases[0]) for c in self.values if c.cases]

    @cached_property
    def failed(self) -> frozenset[str]:
        """The checks that were tried and did not pass."""
        return frozenset(c.id for c in self.checks if c.verdict in FAILED)

    @cached_property
    def passed(self) -> frozenset[str]:
        """The checks that passed."""
        return frozenset(c.id for c in self.checks if c.verdict is Verdict.PASS)

    @cached_property
    def wrong(self) -> Mapping[Component, list[str]]:
        """The cases on which the submission differs from the reference, by component."""
        found = {
            c: list(differing(self.mine, self.reference, c))
            for c in self.everything
            # A measure within its budget is not wrong, however much it differs.
            if c.measured_by is None or c.measured_by.id not in self.passed
        }
        found = {
            c: [case for case in cases if self._decides((c, case))] for c, cases in found.items()
        }
        return {c: cases for c, cases in found.items() if cases}

    def _decides(self, cell: Cell) -> bool:
        """Whether a difference is more than rounding, as the checks see it."""
        c, case = cell
        if c.measured_by is not None or c.of_dtype or c.exact or self.hides(cell):
            return True
        outcome = self.mine.observed(c.run, self.mine.cases[case])
        return fault_of(self.mine, c.run, self.mine.cases[case], c.name, outcome) is not None

    @cached_property
    def evidence(self) -> list[Cell]:
        """What is wrong where a check was tried and failed: what was skipped suggests nothing."""
        return [
            (c, case)
            for c, cases in self.wrong.items()
            for case in cases
            if not self.failed.isdisjoint(c.checks[case])
        ]

    def right(self) -> Iterator[Cell]:
        """The results that are right."""
        for c in self.values:
            wrong = set(self.wrong.get(c, ()))
            yield from ((c, case) for case in c.cases if case not in wrong)

    def acts(self, variant: Evaluation, cell: Cell) -> bool:
        """Whether a variant differs from the reference there; remembered with what they compute."""
        return variant.remember(
            variant.submission, ("acts", *cell), lambda: not same_on(self.reference, variant, *cell)
        )

    def fits(self, variant: Evaluation, cell: Cell) -> bool:
        """Whether the submission shows what a variant shows."""
        return same_on(self.mine, variant, *cell)

    def hides(self, cell: Cell) -> bool:
        """Whether the submission returned nothing there, so that no idea can be seen."""
        return is_fault(observed(self.mine, *cell))

    def cases(self, cells: Iterable[Cell]) -> set[str]:
        """The cases of some cells."""
        return {case for _, case in cells}
