"""What is known of a class: what it was asked, who handed in what, and what grading has found."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from grader.model.report import Report

RESULTS_FORMAT = 2


def whole(points: float) -> float:
    """Return points without the noise of weights; whole ones whole."""
    value = round(points, 6)
    return int(value) if value == int(value) else value


@dataclass(frozen=True, slots=True)
class HandIn:
    """One file that a student handed in for one question."""

    student: str  # what the layout tells students apart by
    question: str  # id
    path: str  # from the folder or zip file of all submissions, with `/`
    sha256: str  # of the program in it, in hexadecimal; "" where there is none
    at: str = ""  # when, UTC, ISO 8601; "" where nobody knows
    fault: str = ""  # why there is no program in it, one sentence
    name: str = ""  # the student's, as the layout says
    email: str = ""
    late: bool = False  # whether a learning platform says so


@dataclass(frozen=True, slots=True)
class AssignedQuestion:
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

    def weighted(self, points: int) -> float:
        """Return points as they count in a total."""
        return whole(points * self.weight)


@dataclass(frozen=True, slots=True)
class Terms:
    """What all grades of a class share."""

    seed: int  # from which every input is drawn, for everybody
    level: str  # isolation that a grade must have had at least
    program: str  # version of drill
    questions: tuple[AssignedQuestion, ...]
    title: str = ""
    deadline: str = ""  # ISO 8601 with its offset; what comes later is marked, no more
    submissions: str = ""  # path of what was handed in; it decides nothing
    stretch: bool = False  # whether what is only reported is measured
    counts: str = "last"  # which counts of what a student handed in for a question: last or best
    format: int = RESULTS_FORMAT

    @property
    def of(self) -> float:
        """Points that can be earned in all, with weights."""
        return whole(sum(one.weighted(one.of) for one in self.questions))


@dataclass(frozen=True, slots=True)
class Graded:
    """What came of grading one program once."""

    key: str  # hash of all that decides what comes of it
    report: Report | None = None
    fault: str = ""  # of the grader or the bank, never of the submission

    @property
    def settled(self) -> bool:
        """Whether it need not be tried again."""
        return self.report is not None and not self.fault


@dataclass(frozen=True, slots=True)
class Entry:
    """What a student handed in for a question, and what is known of it."""

    question: AssignedQuestion
    handed: HandIn
    report: Report | None = None  # of a grade that came to its end
    fault: str = ""  # why there is none, where the grader or the bank is at fault
    late: bool = False
    graded_at: str = ""  # UTC, ISO 8601

    @property
    def points(self) -> int | None:
        """Points earned; None where there is no grade yet, which is not the student's fault."""
        if self.handed.fault:
            return 0
        return None if self.report is None else sum(part.points for part in self.report.parts)

    @property
    def verdict(self) -> str:
        """What became of it, in a word or two."""
        if self.handed.fault:
            return "no program"
        return "not graded" if self.report is None else str(self.report.verdict)

    @property
    def note(self) -> str:
        """Why there is no verdict; empty where there is one."""
        if self.handed.fault or self.report is not None:
            return self.handed.fault
        return self.fault or "it was not graded yet"
