"""What an audit of a question found: the proof, part by part, as plain frozen data.

A *problem* is a fault of the question, and the audit fails.  A *remark* says what would make the
question better and fails a strict audit only.  A *note* says what was left out, or takes long.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum, auto

AUDIT_FORMAT = 2


class Cell(StrEnum):
    """What one check made of one program, over all seeds."""

    PASSES = auto()
    KILLS = auto()
    WOULD_KILL = auto()  # it does not pass, but in a grade it would be skipped for a check it needs
    VARIES = auto()  # it depends on the seed
    NOT_RUN = auto()


@dataclass(frozen=True, slots=True)
class AuditRow:
    """One program: the reference, the starter, or one variant of a misconception."""

    name: str  # "reference", "starter", "even-split", "even-split (2)"
    misconception: str | None
    cells: Mapping[str, Cell]  # by check id
    named: tuple[str, ...]  # misconceptions that diagnosis named on every seed
    named_well: int  # seeds on which it named exactly what it should
    seeds: int  # on which it went through every check
    claimed_by: tuple[str, ...] = ()  # checks that the spec says kill it
    # By a check that VARIES: the seeds on which the program passes it.
    passing_seeds: Mapping[str, tuple[int, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class CheckFacts:
    """What is known of one check when everything has been through it."""

    id: str
    kind: str
    stretch: bool
    stops: int  # wrong programs that it does not pass on every seed, needs or no needs
    first: int  # those of them that no check before it stops
    lets_through: tuple[str, ...] = ()  # trivial answers that pass it


@dataclass(frozen=True, slots=True)
class Trivial:
    """An answer that takes no thought, and the checks that it passes."""

    name: str  # "zeros", "first-call"
    about: str  # "returns zeros of the right shape"
    passes: tuple[str, ...]
    accepted: bool  # every check that decides lets it through
    made: bool = True  # False: it computes what the reference does, so it says nothing


@dataclass(frozen=True, slots=True)
class Accepted:
    """A right program besides the reference."""

    name: str
    passed: int  # seeds on which every check that decides passes it
    seeds: int
    derived: bool = False  # by the audit, from the reference


@dataclass(frozen=True, slots=True)
class Remark:
    """What would make the question better."""

    # redundant, raising, starter, trivial, parts, todo, unused, prerequisites
    about: str
    text: str


@dataclass(frozen=True, slots=True)
class AuditReport:
    """The proof of one question, or what is wrong with it."""

    question: str
    title: str
    seeds: tuple[int, ...]
    seconds: float
    checks: tuple[CheckFacts, ...]  # in order
    programs: tuple[AuditRow, ...]
    problems: tuple[str, ...]
    remarks: tuple[Remark, ...] = ()
    notes: tuple[str, ...] = ()  # what was left out, and what takes long
    trivial: tuple[Trivial, ...] = ()
    accepted: tuple[Accepted, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether the question may be shown to anybody."""
        return not self.problems
