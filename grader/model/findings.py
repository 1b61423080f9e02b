"""What follows from all grades of a class: who passed what, and which ideas it holds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from grader.model.classroom import Entry, Posed, Terms

Attempts = tuple[Entry, Sequence[Entry]]  # what counts, and all hand-ins, oldest first


class Standing(StrEnum):
    """Where a student stands with a question: exactly one of these."""

    PASSED = "passed"
    IDEA = "holds a listed idea"
    EXPLAINED = "wrong, explained otherwise"  # a rule, a change, a class: no listed idea
    UNEXPLAINED = "wrong, unexplained"
    STOPPED = "stopped, no idea is known"  # raised, ran into a limit, or was flagged
    STARTER = "starter, unchanged"
    NO_PROGRAM = "no program in the file"
    NOT_GRADED = "not graded"  # yet, or for a reason that is the grader's
    MISSING = "nothing handed in"


@dataclass(frozen=True, slots=True)
class Cell:
    """What is known of one student and one question."""

    question: str  # id
    standing: Standing
    points: int | None = None  # None: not graded
    verdict: str = ""  # of the report
    part: str = ""  # "2 of 3": the parts that pass, of those there are
    late: bool = False
    note: str = ""  # why it is not graded, or why there is no program
    ideas: tuple[str, ...] = ()  # listed ones that it holds
    unsure: tuple[str, ...] = ()  # that fit a part of what is wrong
    group: str = ""  # handle of the group of equal wrong results
    at: str = ""  # when it was handed in


@dataclass(frozen=True, slots=True)
class Student:
    """One student: a cell for each question, in their order."""

    id: str
    cells: tuple[Cell, ...]
    points: float | None  # with weights; None while something of it is not graded
    so_far: float  # of what is graded
    name: str = ""
    email: str = ""

    @property
    def passed(self) -> bool:
        """Whether every question passes."""
        return all(cell.standing is Standing.PASSED for cell in self.cells)


@dataclass(frozen=True, slots=True)
class Held:
    """A listed idea that somebody holds in what counts, or has held before."""

    id: str
    lines: tuple[str, ...]  # the first sentence of its feedback, as most are given it; then others
    students: tuple[str, ...]  # who holds it now
    share: float  # of those whose file was graded and is not the unchanged starter
    shared: tuple[str, ...] = ()  # of these: where another idea gives the same numbers
    unsure: tuple[str, ...] = ()  # where it fits a part of what is wrong, and no more
    by_part: Mapping[int, int] = field(default_factory=dict)  # students, by number of the part
    over_time: tuple[int, ...] = ()  # hand-ins that hold it, by interval of the class
    gone: tuple[str, ...] = ()  # who held it in a hand-in and has since passed its checks


@dataclass(frozen=True, slots=True)
class Group:
    """Wrong results that are equal to each other, to the last case."""

    question: str
    name: str  # "ID#1": the largest group is the first
    handle: str  # the first digits of the digest: stays the same when more is graded
    outputs: str  # the digest
    students: tuple[str, ...]
    sentence: str  # what the first failing check says
    case: str = ""  # the smallest one that fails
    also: tuple[str, ...] = ()  # what else is known: rules and changes
    files: int = 1  # how many of the students' files differ


@dataclass(frozen=True, slots=True)
class Same:
    """Files of several students that are equal, byte for byte."""

    question: str
    sha256: str
    students: tuple[str, ...]
    passes: bool


@dataclass(frozen=True, slots=True)
class Count:
    """One bar of a distribution."""

    label: str
    count: int


@dataclass(frozen=True, slots=True)
class Spread:
    """A distribution: bars, and its middle in words."""

    title: str
    counts: tuple[Count, ...]  # none where there is nothing to count
    note: str = ""


@dataclass(frozen=True, slots=True)
class Asked:
    """What the class shows of one question."""

    posed: Posed
    standings: Mapping[Standing, int]
    ideas: tuple[Held, ...]  # the commonest first
    judged: int  # students whose file was graded and is not the unchanged starter
    handed_in: tuple[int, ...]  # hand-ins by interval, however many a student has
    several: int  # students with more than one hand-in
    groups: tuple[Group, ...]  # unexplained ones, the largest first
    rare: tuple[Group, ...]  # of these: for a person to look at
    same: tuple[Same, ...]
    points: Spread


@dataclass(frozen=True, slots=True)
class Findings:
    """What follows from all grades of a class."""

    terms: Terms
    students: tuple[Student, ...]
    asked: tuple[Asked, ...]
    of: float  # points, with weights
    intervals: tuple[str, ...]  # of time, from the first hand-in to the last
    mean: float | None  # of the points of those who are graded throughout
    median: float | None
    scores: Spread
    seconds: Spread
    times: Spread
    unreadable: int = 0  # lines of the results that are no verdict

    @property
    def passed(self) -> int:
        """How many students pass every question."""
        return sum(student.passed for student in self.students)

    @property
    def complete(self) -> int:
        """How many students have everything graded."""
        return sum(student.points is not None for student in self.students)
