"""Records of a class: its questions, submissions and grades."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from grader.model.number_format import format_count
from grader.model.number_sets import PERIOD
from grader.model.report import Report

RESULTS_FORMAT = 4


def round_points(points: float) -> float:
    """Round to 6 decimals, to drop the float noise of weights; whole points become an int."""
    value = round(points, 6)
    return int(value) if value == int(value) else value


@dataclass(frozen=True, slots=True)
class HandIn:
    """One file that a student handed in for one question."""

    student: str  # as the path of the file names the student: a login, a number, an email
    question: str  # id
    path: str  # below the folder or zip file of all submissions: "ada/pool.py"
    sha256: str  # of its program, in hexadecimal; "" if it has none
    at: str = ""  # time in UTC, ISO 8601; "" if unknown
    fault: str = ""  # why it has no program, one sentence
    name: str = ""  # of the student
    email: str = ""
    late: bool = False  # marked as late by a learning platform
    unread: str = ""  # a fault of the grader while reading the file; costs no points


@dataclass(frozen=True, slots=True)
class SubmittedProgram:
    """The program of a submission, and the files next to it that it imports."""

    main: bytes = b""
    modules: Mapping[str, bytes] = field(default_factory=dict)  # by name, imported ones first

    @property
    def sha256(self) -> str:
        """Return the hash of the program; with modules, the hash of all their hashes."""
        if not self.modules:
            return hashlib.sha256(self.main).hexdigest()
        return hashlib.sha256(json.dumps(self.hashes).encode()).hexdigest()

    @property
    def hashes(self) -> list[tuple[str, str]]:
        """Return the name and hash of each file, the program first with the name ""."""
        files = [("", self.main), *self.modules.items()]
        return [(name, hashlib.sha256(content).hexdigest()) for name, content in files]


@dataclass(frozen=True, slots=True)
class AssignedQuestion:
    """A question that a class is graded on, and how its points count in this class."""

    id: str
    title: str
    digest: str  # of the question: its spec and all its programs
    bank: str  # path
    parts: tuple[int, ...]  # numbers of the parts that count
    of: int  # maximum points of these
    weight: float = 1.0  # factor of its points in the total
    hidden: tuple[str, ...] = ()  # checks and cases that students do not see
    shared: bool = False  # in a failing part, each passing check earns an equal share of its points
    libraries: Mapping[str, str] = field(default_factory=dict)  # versions, by name
    is_text: bool = False  # the submission is a text, not a program

    def weighted_points(self, points: int) -> float:
        """Return points times the weight of the question."""
        return round_points(points * self.weight)


@dataclass(frozen=True, slots=True)
class LatePolicy:
    """Penalty for late submissions."""

    penalty: float  # percent of the points for each started day
    days: int  # after more days, a submission earns nothing
    # By student: a number of extra days, or another deadline in ISO 8601 with its offset.
    extensions: Mapping[str, int | str] = field(default_factory=dict)

    def percent(self, days: int) -> float:
        """Return the penalty in percent of the points, for a file that is this many days late."""
        return 100.0 if days > self.days else min(100.0, days * self.penalty)


@dataclass(frozen=True, slots=True)
class Override:
    """Points that a teacher gives by hand."""

    points: int
    note: str = ""


@dataclass(frozen=True, slots=True)
class ClassSettings:
    """Settings of all grades of a class."""

    seed: int  # every input is drawn from it
    level: str  # minimum isolation of a grade
    program: str  # version of drill
    questions: tuple[AssignedQuestion, ...]
    title: str = ""
    deadline: str = ""  # ISO 8601 with its offset; later submissions are marked
    late: LatePolicy | None = None  # None: no penalty
    submissions: str = ""  # path of the submissions; it affects no verdict
    stretch: bool = False  # stretch checks run
    strict_text: bool = False  # text answers are read literally
    per_student: bool = False  # each student has a seed, derived from `seed`
    file: str = ""  # path of its class.yaml, if it has one
    counts: str = "last"  # the submission of a student that counts: last or best
    format: int = RESULTS_FORMAT

    @property
    def max_points(self) -> float:
        """Return the largest possible total: the maximum of each question times its weight."""
        return round_points(sum(asked.weighted_points(asked.of) for asked in self.questions))

    def seed_of(self, student: str) -> int:
        """Return the seed of a student's grades: the class's, unless `per_student` is true."""
        if not self.per_student:
            return self.seed
        digest = hashlib.sha256(f"{self.seed} {student}".encode(errors="surrogateescape")).digest()
        seed = int.from_bytes(digest[:5], "big")
        # The student's seed draws the same set of numbers (`given` in a spec) as the class's seed.
        return seed - seed % PERIOD + self.seed % PERIOD

    def days_late(self, student: str, at: str) -> int | None:
        """Return how many days after a student's deadline `at` is: 0 in time, 2 after 25 hours.

        Returns None if `at` is "" or the class has no deadline.
        """
        if not self.deadline or not at:
            return None
        late = datetime.fromisoformat(at) - self.deadline_for(student)
        return max(0, math.ceil(late / timedelta(days=1)))

    def deadline_for(self, student: str) -> datetime:
        """Return a student's deadline, with their extension; the class must have a deadline."""
        extension = self.late.extensions.get(student, 0) if self.late else 0
        if isinstance(extension, str):
            return datetime.fromisoformat(extension)
        return datetime.fromisoformat(self.deadline) + timedelta(days=extension)


@dataclass(frozen=True, slots=True)
class ProgramGrade:
    """Result of grading one program: a report, or a fault that prevented it, or both."""

    key: str  # hash of everything that affects the result
    report: Report | None = None
    fault: str = ""  # of the grader or the bank, never of the submission; then it is tried again


@dataclass(frozen=True, slots=True)
class ClassEntry:
    """A student's submission for a question, and its grade."""

    question: AssignedQuestion
    hand_in: HandIn
    report: Report | None = None  # of a finished grade
    fault: str = ""  # of the grader or the bank, instead of a report
    late: bool = False
    graded_at: str = ""  # UTC, ISO 8601
    days_after_deadline: int | None = None  # started ones; None if unknown
    late_penalty_percent: float = 0.0  # of the earned points
    override: Override | None = None
    same_time_note: str = ""  # a sentence on the student's other files of that time

    @property
    def earned_points(self) -> int | None:
        """Return the points of the grade: 0 without a program, None if it was not graded."""
        if self.hand_in.fault:
            return 0
        return None if self.report is None else sum(part.points for part in self.report.parts)

    @property
    def points(self) -> int | None:
        """Return the points that count, or None if there are none yet.

        They are the points given by hand, or else the earned ones less the penalty, rounded up.
        """
        if self.override is not None:
            return self.override.points
        earned = self.earned_points
        if earned is None:
            return None
        return math.ceil(earned * (100 - self.late_penalty_percent) / 100 - 1e-9)

    @property
    def adjustment_note(self) -> str:
        """Return why the points differ from the earned ones; empty if they do not."""
        if self.override is not None:
            return f"points by hand: {self.override.note}".removesuffix(": ")
        if not self.late_penalty_percent or not self.earned_points:
            return ""
        loss = f"{self.late_penalty_percent:g} % less"
        if self.late_penalty_percent == 100:
            loss = "nothing is left"
        days = format_count(self.days_after_deadline or 0, "day")
        return f"{days} late: {loss} of {format_count(self.earned_points, 'point')}"

    @property
    def verdict(self) -> str:
        """Return the verdict in one or two words: "pass", "no answer", "by hand", "not graded"."""
        if self.hand_in.fault:
            return "no answer"
        if self.report is None and self.override is not None:
            return "by hand"
        return "not graded" if self.report is None else str(self.report.verdict)

    @property
    def note(self) -> str:
        """Join all remarks on the grade with "; ".

        They tell why there is no verdict, which lines or definitions were skipped, which other
        files have the same time, and why the points differ from the earned ones.
        """
        notes = [self.hand_in.fault]
        if not self.hand_in.fault and self.report is None and self.override is None:
            notes.append(self.fault or "it was not graded yet")
        if self.report is not None:
            notes += [*self.report.unread, *self.report.stopped]
        notes += [self.same_time_note, self.adjustment_note]
        return "; ".join(filter(None, notes))
