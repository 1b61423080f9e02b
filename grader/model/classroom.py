"""What is known of a class: who handed in what, and what its grading has found."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from grader.model.report import Report

RESULTS_FORMAT = 1


@dataclass(frozen=True, slots=True)
class HandedIn:
    """One file that a student handed in for one question."""

    student: str  # what the layout tells students apart by
    question: str  # id
    path: str  # from the folder or archive of all submissions, with `/`
    sha256: str  # of the program in it, in hexadecimal; "" where there is none
    at: str = ""  # when, UTC, ISO 8601; "" where nobody knows
    fault: str = ""  # why there is no program in it, one sentence
    name: str = ""  # the student's, as the layout says
    email: str = ""
    late: bool = False  # whether a learning platform says so


@dataclass(frozen=True, slots=True)
class Posed:
    """A question as a class is asked it."""

    id: str
    title: str
    digest: str  # of the question: its spec and all its programs
    bank: str  # path
    parts: tuple[int, ...]  # numbers of those that count
    of: int  # points that can be earned in these
    weight: float = 1.0  # of its points in the total
    hidden: tuple[str, ...] = ()  # checks and cases that students are not shown
    libraries: Mapping[str, str] = field(default_factory=dict)  # versions, by name


@dataclass(frozen=True, slots=True)
class Terms:
    """What all grades of a class share."""

    seed: int  # from which every input is drawn, for everybody
    level: str  # isolation that a grade must have had at least
    program: str  # version of drill
    posed: tuple[Posed, ...]
    title: str = ""
    deadline: str = ""  # ISO 8601 with its offset; what comes later is marked, no more
    submissions: str = ""  # path of what was handed in; it decides nothing
    counts: str = "last"  # which counts of what a student handed in for a question: last or best
    format: int = RESULTS_FORMAT


@dataclass(frozen=True, slots=True)
class Graded:
    """What came of grading one program once."""

    key: str  # hash of all that decides what comes of it
    report: Report | None = None
    fault: str = ""  # of the grader or the bank, never of the submission
    at: str = ""  # when it was kept: UTC, ISO 8601

    @property
    def settled(self) -> bool:
        """Whether it need not be tried again."""
        return self.report is not None and not self.fault


@dataclass(frozen=True, slots=True)
class Entry:
    """What a student handed in for a question, and what is known of it."""

    posed: Posed
    handed: HandedIn
    graded: Graded | None  # None: not yet, or there is no program in it
    late: bool = False

    @property
    def report(self) -> Report | None:
        """What the grade has found."""
        return self.graded.report if self.graded is not None and self.graded.settled else None

    @property
    def points(self) -> int | None:
        """Points earned; None where no grade has come to an end, which is not the student's fault.

        A file in which there is no program earns nothing.
        """
        if self.handed.fault:
            return 0
        return None if self.report is None else sum(part.points for part in self.report.parts)
