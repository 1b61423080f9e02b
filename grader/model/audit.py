"""What an audit of a question found: which check kills which variant, and how each is named."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum


class Cell(StrEnum):
    """What one check made of one program, over all seeds."""

    PASSES = "."
    KILLS = "X"
    WOULD_KILL = "x"  # it does not pass, but in a grade it would be skipped for a check it needs
    VARIES = "?"  # it depends on the seed
    NOT_RUN = " "


@dataclass(frozen=True, slots=True)
class AuditRow:
    """One program: the reference, the starter, or one face of a misconception."""

    name: str  # "reference", "starter", "even-split", "even-split (2)"
    misconception: str | None
    cells: Mapping[str, Cell]  # by check id
    named: tuple[str, ...]  # misconceptions that diagnosis named on every seed
    named_well: int  # seeds on which it named exactly what it should
    seeds: int


@dataclass(frozen=True, slots=True)
class AuditReport:
    """The proof of one question, or what is wrong with it."""

    question: str
    title: str
    seeds: tuple[int, ...]
    seconds: float
    checks: tuple[str, ...]
    rows: tuple[AuditRow, ...]
    problems: tuple[str, ...]
    remarks: tuple[str, ...] = ()  # what was left out, and why

    @property
    def ok(self) -> bool:
        """Whether the question may be shown to anybody."""
        return not self.problems
