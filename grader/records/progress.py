"""A person's progress with each question: started, tried, passed, hints shown, given up.

Progress belongs to a question's id and the name of its bank.  Events hold the path of the bank.
Its name is that of its folder or file; every copy of the program's own bank has one name.  So banks
of different names do not share progress, and a copy in another folder has the same records.  A bank
that was moved or renamed keeps its records, too: if a recorded bank no longer holds the id, its
records count for every bank that does.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from grader.bank import has_question
from grader.bank.bank_files import SPEC_SUFFIXES

if TYPE_CHECKING:
    import sqlite3

# Values of `parts` for a grade that is not a try.
NO_TRY_MARK = "unread"  # the file is empty, unreadable or the starter
UNCHANGED_MARK = "unchanged"  # the file passed the part before, and has not changed since


@dataclass(slots=True)
class QuestionProgress:
    """Progress with one question, in its latest sitting unless a comment says otherwise.

    A sitting is one time through a question.  It begins when the question is started, or started
    over.  It is finished by a pass of all parts, by a look at the solution, or by the one try of a
    prediction.
    """

    started: bool = False  # in any sitting
    tries: int = 0  # versions of the person's own file that were graded
    passed: bool = False  # in any sitting
    highest_hint: int = 0  # number of the last hint that was shown, over all parts
    hints_shown: int = 0
    given_up: bool = False  # the solution was shown before a pass
    parts: int = 0  # passed in the best try, counted from the first part
    passed_by: str | None = None  # sha256 of the first file that passed these parts
    failed_tries: int = 0  # tries that passed no further part
    passed_in_sitting: bool = False
    is_finished: bool = False
    sitting: int = 1  # number
    moments: list[str] = field(default_factory=list)  # times of its events until it was finished
    last_earlier_attempt: int = 0  # number of the last attempt before this sitting
    part_given: int = 1  # the last part that an interviewer asked
    # From these follows when the question is due.  In order: each sitting as it was when it was
    # finished, and the moment of each wrong answer to a follow-up.
    rated_moments: list[QuestionProgress | str] = field(default_factory=list)
    marks: dict[int, AttemptMark] = field(default_factory=dict)  # by the number of an attempt

    def count_parts_asked(self, parts: int) -> int:
        """Return how many of a question's `parts` are asked, at most all.

        It is one part more than is passed, or more if an interviewer has asked a later part.
        """
        return min(max(self.count_parts_passed(parts) + 1, self.part_given), parts)

    def count_parts_passed(self, parts: int) -> int:
        """Return how many of a question's `parts` are passed in this sitting; all after a pass."""
        return parts if self.passed_in_sitting else min(self.parts, parts)

    @property
    def state(self) -> str:
        """One word for a list of questions: "passed", "tried", "started" or "new".

        A passed question that was started over is not "passed" until it is finished again.
        """
        if self.passed and self.is_finished:
            return "passed"
        if self.tries:
            return "tried"
        return "started" if self.started else "new"


class AttemptMark(NamedTuple):
    """Progress with a question at the time of an attempt."""

    sitting: int = 1  # number
    hints: int = 0  # number of the last hint shown in this sitting
    given_up: bool = False  # the solution was shown in this sitting before a pass
    parts: int = 0  # passed in this sitting before this attempt
    tries: int = 0  # number of the try; 0 if the attempt is not a try


class Start(NamedTuple):
    """One `drill start`, as recorded: the question, its bank, and the folder that it created."""

    question: str
    bank: str
    folder: str


class ProgressEvent(NamedTuple):
    """One recorded event, with the fields that progress is computed from."""

    id: int  # of the event
    what: str
    at: str  # UTC, ISO 8601
    attempt: int | None
    hint: int | None
    verdict: str | None
    parts: str | None
    sha256: str | None  # of the graded file, if it is the person's own

    @property
    def is_try(self) -> bool:
        """True for a verdict on the person's own file, unless `parts` marks it as no try."""
        return self.what == "graded" and self.sha256 is not None and is_try(self.parts)


# By the id of a question and its bank; not sorted.
ProgressEvents = Mapping[tuple[str, str], Sequence[ProgressEvent]]

_PROGRESS_SQL = """
    SELECT
        event.question, event.bank,
        event.id, event.what, event.at, event.attempt, event.hint, event.verdict, event.parts,
        begun.sha256
    FROM events AS event
    LEFT JOIN events AS begun
        ON event.what = 'graded' AND begun.attempt = event.attempt AND begun.what = 'begun'
    WHERE event.what IN (
        'started', 'graded', 'hint', 'solution', 'run', 'again', 'discussed', 'asked')
    {condition}
    """


def progress_events(db: sqlite3.Connection, question: str | None = None) -> ProgressEvents:
    """Return the events that progress is computed from, of all questions or of one id."""
    if question is None:
        rows = db.execute(_PROGRESS_SQL.format(condition=""))
    else:
        query = _PROGRESS_SQL.format(condition="AND event.question = ?")
        rows = db.execute(query, (question,))
    recorded: dict[tuple[str, str], list[ProgressEvent]] = {}
    for question_id, bank, *values in rows:
        recorded.setdefault((question_id, bank), []).append(ProgressEvent(*values))
    return recorded


def is_try(parts: str | None) -> bool:
    """Return True unless `parts` marks a grade that does not count as a try."""
    return parts not in {NO_TRY_MARK, UNCHANGED_MARK}


def parts_passed(verdicts: str | None) -> int:
    """Return how many parts of a try are passed, counted from the first: 1 for "pass fail"."""
    passed = 0
    for verdict in (verdicts or "").split():
        if verdict != "pass":
            break
        passed += 1
    return passed


def progress_of(
    recorded: ProgressEvents, question: str, bank: Path, *, once: bool = False
) -> QuestionProgress:
    """Return the progress with a bank's question.

    If `once`, as for a prediction, the first try finishes a sitting even if it fails.
    """
    own_events: list[ProgressEvent] = []
    for (question_id, recorded_bank), group in recorded.items():
        if question_id == question and is_about_question(recorded_bank, str(bank), question):
            own_events += group
    reader = _ProgressReader(once=once)
    for event in sorted(own_events):  # by number: a clock may have been set
        reader.add(event)
    return reader.progress


class _ProgressReader:
    """Computes progress from events, which are added one by one in their order."""

    def __init__(self, *, once: bool) -> None:
        self.progress = QuestionProgress()
        self._once = once
        self._versions: set[str | None] = set()  # files that were tried in this sitting
        self._latest_attempt = 0

    def add(self, event: ProgressEvent) -> None:
        """Update the progress by the next event."""
        self._latest_attempt = max(self._latest_attempt, event.attempt or 0)
        if event.what == "again":
            self._start_over()
        progress = self.progress
        was_finished = progress.is_finished
        parts_before = progress.parts
        tries_before = progress.tries
        if event.what == "started" or event.is_try:
            progress.started = True
        if progress.started and not was_finished:
            progress.moments.append(event.at)
        self._apply(event)
        if event.attempt is not None:
            is_new_try = progress.tries > tries_before
            progress.marks[event.attempt] = AttemptMark(
                sitting=progress.sitting,
                hints=progress.highest_hint,
                given_up=progress.given_up,
                parts=parts_before,
                tries=progress.tries if is_new_try else 0,
            )
        if progress.is_finished and not was_finished:
            progress.rated_moments.append(replace(progress, rated_moments=[], marks={}))

    def _start_over(self) -> None:
        """Begin another sitting: only a pass, the rated moments and the marks are kept."""
        self._versions = set()
        self.progress = QuestionProgress(
            started=True,
            passed=self.progress.passed,
            sitting=self.progress.sitting + 1,
            last_earlier_attempt=self._latest_attempt,
            rated_moments=self.progress.rated_moments,
            marks=self.progress.marks,
        )

    def _apply(self, event: ProgressEvent) -> None:
        progress = self.progress
        match event.what:
            case "hint":
                progress.highest_hint = max(progress.highest_hint, event.hint or 0)
                progress.hints_shown += 1
            case "solution":
                if not progress.is_finished:
                    progress.given_up = True
                if progress.started:  # a look before the start finishes nothing
                    progress.is_finished = True
            case "asked":
                progress.part_given = max(progress.part_given, int(event.parts or 1))
            case "discussed" if event.verdict == "fail":
                progress.rated_moments.append(event.at)
            case "graded" if event.is_try:
                self._count_try(event)

    def _count_try(self, event: ProgressEvent) -> None:
        progress = self.progress
        counted_verdicts = set((event.parts or "").split())
        passes_all = event.verdict == "pass" and counted_verdicts <= {"pass"}
        passed = parts_passed(event.parts)
        passes_further_part = passed > progress.parts
        if not (passes_all or passes_further_part or event.sha256 in self._versions):
            progress.failed_tries += 1
        self._versions.add(event.sha256)
        progress.tries = len(self._versions)
        if passes_further_part:
            progress.passed_by = event.sha256
            progress.parts = passed
        if passes_all:
            progress.passed_in_sitting = True
            progress.passed = True
        if passes_all or self._once:
            progress.is_finished = True


def is_about_question(recorded: str, bank: str, question: str) -> bool:
    """Return True if a record of the bank `recorded` counts for a question of `bank`.

    It counts if the banks have the same name, or if `recorded` no longer holds the question.
    """
    return is_same_bank(recorded, bank) or not has_question(Path(recorded), question)


def is_same_bank(bank: str, other: str) -> bool:
    """Return True if two paths are banks of the same name; neither needs to exist."""
    return bank == other or _bank_name(Path(bank)) == _bank_name(Path(other))


def _bank_name(bank: Path) -> str:
    """Return the name of a bank's folder or file; empty for the bank of the program itself."""
    in_wheel = bank.parts[-2:] == ("grader", "_bank")
    if in_wheel or os.path.isfile(bank / "grader" / "__init__.py"):  # noqa: PTH113 never raises
        return ""
    return bank.stem if bank.suffix in SPEC_SUFFIXES else bank.name


def all_starts(db: sqlite3.Connection) -> tuple[Start, ...]:
    """Return every recorded `drill start`, the latest first."""
    query = "SELECT question, bank, path FROM events WHERE what = 'started' ORDER BY id DESC"
    return tuple(Start(*row) for row in db.execute(query))


def recent_questions(db: sqlite3.Connection) -> tuple[str, ...]:
    """Return the ids of questions that were worked on, the one with the latest event first."""
    rows = db.execute(
        "SELECT question FROM events"
        " WHERE what IN ('started', 'begun', 'hint', 'solution', 'again')"
        " GROUP BY question ORDER BY max(id) DESC"
    )
    return tuple(str(question) for (question,) in rows)


def follow_up_verdicts(
    db: sqlite3.Connection, question: str, bank: str
) -> dict[tuple[int, int], tuple[str, str]]:
    """Return the last verdict on each follow-up question, and its time.

    The keys are a part and a number in it: `{(1, 2): ("pass", "2026-11-20T10:00:00+00:00")}`.
    """
    import json  # a command that lists questions does without

    query = (
        "SELECT detail, verdict, at FROM events WHERE what = 'discussed' AND question = ?"
        " AND verdict IS NOT NULL AND counts(bank, ?, question) ORDER BY id"
    )
    verdicts: dict[tuple[int, int], tuple[str, str]] = {}
    for detail, verdict, at in db.execute(query, (question, bank)):
        follow_up = json.loads(detail)
        verdicts[follow_up["part"], follow_up["number"]] = (verdict, at)
    return verdicts


def runs_used(db: sqlite3.Connection, question: str, bank: str) -> int:
    """Return how many times `drill run` ran since the question was last reset or started over."""
    query = (
        "SELECT what FROM events WHERE what IN ('run', 'reset', 'again') AND question = ?"
        " AND counts(bank, ?, question) ORDER BY id DESC"
    )
    runs = 0
    for (what,) in db.execute(query, (question, bank)).fetchall():
        if what != "run":
            break
        runs += 1
    return runs
