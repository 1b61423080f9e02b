"""What is known of a class: what it was asked, who handed in what, and what grading has found."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from grader.model.number_format import format_count, join_words
from grader.model.number_sets import PERIOD
from grader.model.report import Report

RESULTS_FORMAT = 4


def round_points(points: float) -> float:
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
    unread: str = ""  # a fault of the grader while it read the file, which costs no points


@dataclass(frozen=True, slots=True)
class SubmittedProgram:
    """The program of a submission, and the files beside it that it imports."""

    main: bytes = b""
    modules: Mapping[str, bytes] = field(default_factory=dict)  # by name, imported ones first

    @property
    def sha256(self) -> str:
        """The hash of the program alone, or of the list of all hashes; see `grade_key`."""
        if not self.modules:
            return hashlib.sha256(self.main).hexdigest()
        return hashlib.sha256(json.dumps(self.hashes).encode()).hexdigest()

    @property
    def hashes(self) -> list[tuple[str, str]]:
        """Name and hash of each file; the program's name is empty."""
        files = [("", self.main), *self.modules.items()]
        return [(name, hashlib.sha256(content).hexdigest()) for name, content in files]


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
    shared: bool = False  # whether the checks of a part that fails earn equal shares of its points
    libraries: Mapping[str, str] = field(default_factory=dict)  # versions, by name
    is_text: bool = False  # whether it is answered by a text, and no program

    def weighted_points(self, points: int) -> float:
        """Return points as they count in a total."""
        return round_points(points * self.weight)


@dataclass(frozen=True, slots=True)
class LatePolicy:
    """What coming late costs."""

    penalty: float  # percent of the points for each day begun
    days: int  # what comes later than so many is worth nothing
    extensions: Mapping[str, int | str] = field(default_factory=dict)
    """By student, days more than others have, or a time in ISO 8601 with its offset."""


@dataclass(frozen=True, slots=True)
class Override:
    """Points that a teacher gives by hand."""

    points: int
    note: str = ""


@dataclass(frozen=True, slots=True)
class ClassSettings:
    """What all grades of a class share."""

    seed: int  # from which every input is drawn
    level: str  # isolation that a grade must have had at least
    program: str  # version of drill
    questions: tuple[AssignedQuestion, ...]
    title: str = ""
    deadline: str = ""  # ISO 8601 with its offset; what comes later is marked
    late: LatePolicy | None = None  # what it costs; nothing, if not given
    submissions: str = ""  # path of what was handed in; it decides no verdict
    stretch: bool = False  # whether what is only reported is measured
    strict_text: bool = False  # whether answers that are texts are read literally
    per_student: bool = False  # whether each has a seed, made of that one
    file: str = ""  # path of its class.yaml, if it has one
    counts: str = "last"  # which counts of what a student handed in for a question: last or best
    format: int = RESULTS_FORMAT

    @property
    def max_points(self) -> float:
        """Points that can be earned in all, with weights."""
        return round_points(sum(one.weighted_points(one.of) for one in self.questions))

    def seed_of(self, student: str) -> int:
        """The seed of a student's grades."""
        if not self.per_student:
            return self.seed
        digest = hashlib.sha256(f"{self.seed} {student}".encode(errors="surrogateescape")).digest()
        own = int.from_bytes(digest[:5], "big")
        return own - own % PERIOD + self.seed % PERIOD  # so that it draws the numbers of the class

    def days_late(self, student: str, at: str) -> int | None:
        """The days begun between a student's deadline and a time; None where either is unknown."""
        if not self.deadline or not at:
            return None
        late = datetime.fromisoformat(at) - self.deadline_for(student)
        return max(0, math.ceil(late / timedelta(days=1)))

    def deadline_for(self, student: str) -> datetime:
        """A student's deadline, where there is one."""
        more = self.late.extensions.get(student, 0) if self.late else 0
        if isinstance(more, str):
            return datetime.fromisoformat(more)
        return datetime.fromisoformat(self.deadline) + timedelta(days=more)


@dataclass(frozen=True, slots=True)
class ProgramGrade:
    """What came of grading one program once."""

    key: str  # hash of all that decides what comes of it
    report: Report | None = None
    fault: str = ""  # of the grader or the bank, never of the submission

    @property
    def is_final(self) -> bool:
        """Whether it need not be tried again."""
        return self.report is not None and not self.fault


@dataclass(frozen=True, slots=True)
class ClassEntry:
    """What a student handed in for a question, and what is known of it."""

    question: AssignedQuestion
    hand_in: HandIn
    report: Report | None = None  # of a grade that came to its end
    fault: str = ""  # why there is none, where the grader or the bank is at fault
    late: bool = False
    graded_at: str = ""  # UTC, ISO 8601
    days_after_deadline: int | None = (
        None  # begun since the student's deadline, where that is known
    )
    late_penalty_percent: float = 0.0  # percent of what it earns that coming late costs
    override: Override | None = None
    files_of_same_time: tuple[str, ...] = ()  # names of the student's other files of that time

    @property
    def earned_points(self) -> int | None:
        """Points by the grade; None where there is none yet, which is not the student's fault."""
        if self.hand_in.fault:
            return 0
        return None if self.report is None else sum(part.points for part in self.report.parts)

    @property
    def points(self) -> int | None:
        """Points that count: those by hand, or those earned less what coming late costs, whole."""
        if self.override is not None:
            return self.override.points
        earned = self.earned_points
        return (
            None
            if earned is None
            else math.ceil(earned * (100 - self.late_penalty_percent) / 100 - 1e-9)
        )

    @property
    def adjustment_note(self) -> str:
        """Why these are not the points earned; empty where they are."""
        if self.override is not None:
            return f"points by hand: {self.override.note}".removesuffix(": ")
        if not self.late_penalty_percent or not self.earned_points:
            return ""
        lost = (
            "nothing is left"
            if self.late_penalty_percent == 100
            else f"{self.late_penalty_percent:g} % less"
        )
        return f"{format_count(self.days_after_deadline or 0, 'day')} late: {lost} of {format_count(self.earned_points, 'point')}"

    @property
    def verdict(self) -> str:
        """What became of it, in a word or two."""
        if self.hand_in.fault:
            return "no answer"
        if self.report is None and self.override is not None:
            return "by hand"
        return "not graded" if self.report is None else str(self.report.verdict)

    @property
    def note(self) -> str:
        """Why there is no verdict, and why the points are others than those earned."""
        why = self.hand_in.fault
        if not why and self.report is None and self.override is None:
            why = self.fault or "it was not graded yet"
        said = (*self.report.unread, *self.report.stopped) if self.report is not None else ()
        return "; ".join(filter(None, (why, *said, *self.same_time_note, self.adjustment_note)))

    @property
    def same_time_note(self) -> tuple[str, ...]:
        """The sentence on other files of the same time; nothing if there are none."""
        if not self.files_of_same_time:
            return ()
        name = self.hand_in.path.rpartition("/")[2]
        return (f"{name} counts, not {join_words(self.files_of_same_time)} of the same time",)
