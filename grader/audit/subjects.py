"""The programs under audit, and what the seeds have shown of each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from grader.model.report import CheckResult, Raised
from grader.model.verdict import Verdict
from grader.session.locations import file_of

if TYPE_CHECKING:
    from grader.model.question import Question

FINE = {Verdict.PASS, Verdict.INCONCLUSIVE, Verdict.SKIPPED}


@dataclass(slots=True)
class Subject:
    """One program; every list has one entry per seed."""

    name: str
    sources: Sequence[bytes]
    file: str = ""  # in the bank
    misconception: str | None = None
    results: list[Mapping[str, CheckResult]] = field(default_factory=list)
    graded: list[Sequence[CheckResult]] = field(default_factory=list)
    named: list[tuple[str, ...]] = field(default_factory=list)
    raised: list[Raised | None] = field(default_factory=list)  # where it raises whenever it fails

    def expected(self, question: Question) -> set[str]:
        """The misconceptions that diagnosis should name."""
        if self.misconception is not None:
            return {self.misconception}
        return set(question.spec.starter) if self.name == "starter" else set()


def subjects(question: Question) -> list[Subject]:
    """The reference, the starter, and every variant of every misconception."""
    found = [
        Subject("reference", [question.reference], file_of(question, "reference")),
        Subject("starter", [question.starter], file_of(question, "starter")),
    ]
    for name, sources in question.variants.items():
        for i, source in enumerate(sources):
            label = name if i == 0 else f"{name} ({i + 1})"
            layers = [question.reference, source]
            found.append(Subject(label, layers, file_of(question, name, i), name))
    return found
