"""How far a person is with each question: started, tried, passed, hints shown, given up.

Progress belongs to a question's id and the name of its bank. Events have the path of the bank, and
its name follows from that: the name of its folder or file, and one name for every copy of the
program's own bank. So banks of different names know nothing of each other, and a copy in another
folder has the same records. A bank that was moved or renamed keeps them too: records of a bank that
no longer holds the id count for every bank that does.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from grader.bank import has_question
from grader.bank.bank_files import SPEC_SUFFIXES

if TYPE_CHECKING:
    import sqlite3

# In `parts` of a grade that is no try: the file is empty, unreadable or the starter, ...
NO_TRY_MARK = "unread"
# ... or it passed the part before, and has not changed since.
UNCHANGED_MARK = "unchanged"


@dataclass(slots=True)
class QuestionProgress:
    """What the records say of one question: of its latest sitting, where nothing else is said.

    A sitting is one time through a question. It begins with the start, or with a start anew, and is
    over with a pass of all parts, a look at the solution, or the one try of a prediction.
    """

    started: bool = False  # ever
    tries: int = 0  # versions of one's own file that reached a verdict
    passed: bool = False  # ever
    highest_hint: int = 0  # up to this one, of all parts
    hints_shown: int = 0  # hints
    given_up: bool = False  # the solution was shown before a pass
    parts: int = 0  # passed in the best try, from the first one on
    passed_by: str | None = None  # sha256 of the first file that passed these parts
    failed_tries: int = 0  # tries that passed no part but those passed before
    passed_in_sitting: bool = False  # passed in this sitting
    is_finished: bool = False
    sitting: int = 1  # number
    moments: list[str] = field(default_factory=list)  # of what was done in it, until it was over
    last_earlier_attempt: int = 0  # number of the last attempt before it
    part_given: int = 1  # the last part that an interviewer asked, whatever was passed
    # In order: sittings as they were when they were over, moments of wrong answers to follow-ups.
    rated_moments: list[QuestionProgress | str] = field(default_factory=list)
    marks: dict[int, AttemptMark] = field(default_factory=dict)  # by the number of a graded attempt

    def count_parts_asked(self, parts: int) -> int:
        """How many of a question's parts are asked: one more than were passed, at least."""
        return min(max(self.count_parts_passed(parts) + 1, self.part_given), parts)

    def count_parts_passed(self, parts: int) -> int:
        """How many of a question's parts are passed."""
        return parts if self.passed_in_sitting else min(self.parts, parts)

    @property
    def state(self) -> str:
        """One word for a list."""
        if self.passed and self.is_finished:
            return "passed"
        return "tried" if self.tries else "started" if self.started else "new"


class AttemptMark(NamedTuple):
    """What was true of a question when an attempt at it was made."""

    sitting: int = 1
    hints: int = 0  # shown in it
    given_up: bool = False
    parts: int = 0  # passed in it before
    tries: int = 0  # number of the try that it is; 0: it is none


class Start(NamedTuple):
    """A folder that was made for a question."""

    question: str
    bank: str
    folder: str


class ProgressEvent(NamedTuple):
    """One line of the records, as far as progress follows from it."""

    id: int  # of the event
    what: str
    at: str  # UTC, ISO 8601
    attempt: int | None
    hint: int | None
    verdict: str | None
    parts: str | None
    sha256: str | None  # of one's own file that was graded

    @property
    def is_try(self) -> bool:
        """Whether it is the verdict on what somebody wrote."""
        return self.what == "graded" and self.sha256 is not None and is_try(self.parts)


ProgressEvents = Mapping[tuple[str, str], Sequence[ProgressEvent]]  # by id and bank, in no order

_OVERVIEW = """
    SELECT
        event.question, event.bank,
        event.id, event.what, event.at, event.attempt, event.hint, event.verdict, event.parts,
        begun.sha256
    FROM events AS event
    LEFT JOIN events AS begun
        ON event.what = 'graded' AND begun.attempt = event.attempt AND begun.what = 'begun'
    WHERE event.what IN (
        'started', 'graded', 'hint', 'solution', 'run', 'again', 'discussed', 'asked')
    {also}
    """


def progress_events(db: sqlite3.Connection, question: str | None = None) -> ProgressEvents:
    """Return what is on record of every question, or of those of one id."""
    also = "" if question is None else "AND event.question = ?"
    rows = db.execute(_OVERVIEW.format(also=also), () if question is None else (question,))
    found: dict[tuple[str, str], list[ProgressEvent]] = {}
    for name, bank, *entry in rows:
        found.setdefault((name, bank), []).append(ProgressEvent(*entry))
    return found


def is_try(parts: str | None) -> bool:
    """Return True if a grade with these `parts` is one of a file that somebody has edited."""
    return parts not in {NO_TRY_MARK, UNCHANGED_MARK}


def parts_passed(verdicts: str | None) -> int:
    """Of the parts of a try, as in "pass fail", how many are passed, from the first one on."""
    return [*(verdict == "pass" for verdict in (verdicts or "").split()), False].index(False)


def progress_of(
    known: ProgressEvents, question: str, bank: Path, *, once: bool = False
) -> QuestionProgress:
    """Return the progress with a bank's question, of which only the first try may count."""
    same = (
        key
        for key in known
        if key[0] == question and is_about_question(key[1], str(bank), question)
    )
    # In the order of their numbers, whatever their clock said.
    entries = sorted(chain.from_iterable(map(known.__getitem__, same)))
    yours = QuestionProgress()
    versions = set[str | None]()
    latest = 0
    for one in entries:
        latest = max(latest, one.attempt or 0)
        if one.what == "again":
            versions = set()
            anew = QuestionProgress(True, passed=yours.passed, last_earlier_attempt=latest)
            yours = replace(
                anew,
                sitting=yours.sitting + 1,
                rated_moments=yours.rated_moments,
                marks=yours.marks,
            )
        before = yours.is_finished
        parts_before = yours.parts
        tries_before = yours.tries
        yours.started |= one.what == "started" or one.is_try
        if yours.started and not before:
            yours.moments.append(one.at)
        match one.what:
            case "hint":
                yours.highest_hint = max(yours.highest_hint, one.hint or 0)
                yours.hints_shown += 1
            case "solution":
                yours.given_up |= not before
                yours.is_finished = before or yours.started  # who never began may look at it
            case "asked":
                yours.part_given = max(yours.part_given, int(one.parts or 1))
            case "discussed" if one.verdict == "fail":
                yours.rated_moments.append(one.at)
            case "graded" if one.is_try:
                every = one.verdict == "pass" and {*(one.parts or "").split()} <= {"pass"}
                passed = parts_passed(one.parts)
                yours.failed_tries += not (every or passed > yours.parts or one.sha256 in versions)
                versions.add(one.sha256)
                yours.tries = len(versions)
                if passed > yours.parts:
                    yours.passed_by = one.sha256
                    yours.parts = passed
                yours.passed_in_sitting |= every
                yours.passed |= every
                yours.is_finished = before or every or once
        if one.attempt is not None:
            tries = yours.tries if yours.tries > tries_before else 0
            yours.marks[one.attempt] = AttemptMark(
                yours.sitting, yours.highest_hint, yours.given_up, parts_before, tries
            )
        if yours.is_finished and not before:
            yours.rated_moments.append(replace(yours, rated_moments=[], marks={}))
    return yours


def is_about_question(recorded: str, bank: str, question: str) -> bool:
    """Return True if records of one bank are about the question of another, as above."""
    return is_same_bank(recorded, bank) or not has_question(Path(recorded), question)


def is_same_bank(one: str, other: str) -> bool:
    """Return True if two paths are banks of one name; neither has to be there."""
    return one == other or _name(Path(one)) == _name(Path(other))


def _name(bank: Path) -> str:
    """Return the name of a bank: empty for the one of the program, in a wheel or in a checkout."""
    in_wheel = bank.parts[-2:] == ("grader", "_bank")
    if in_wheel or os.path.isfile(bank / "grader" / "__init__.py"):  # noqa: PTH113 never raises
        return ""
    return bank.stem if bank.suffix in SPEC_SUFFIXES else bank.name


def all_starts(db: sqlite3.Connection) -> tuple[Start, ...]:
    """Return every start, the latest first."""
    query = "SELECT question, bank, path FROM events WHERE what = 'started' ORDER BY id DESC"
    return tuple(Start(*row) for row in db.execute(query))


def recent_questions(db: sqlite3.Connection) -> tuple[str, ...]:
    """Return the ids of the questions on record, the one something happened to last first."""
    rows = db.execute(
        "SELECT question FROM events"
        " WHERE what IN ('started', 'begun', 'hint', 'solution', 'again')"
        " GROUP BY question ORDER BY max(id) DESC"
    )
    return tuple(str(question) for (question,) in rows)


def follow_up_verdicts(
    db: sqlite3.Connection, question: str, bank: str
) -> dict[tuple[int, int], tuple[str, str]]:
    """Return the last verdict on each follow-up, by part and number, and when it was given."""
    import json  # which a list of questions does without

    query = (
        "SELECT bank, detail, verdict, at FROM events"
        " WHERE what = 'discussed' AND question = ? AND verdict IS NOT NULL ORDER BY id"
    )
    rows = [
        row for row in db.execute(query, (question,)) if is_about_question(row[0], bank, question)
    ]
    known = [(json.loads(detail), verdict, at) for _, detail, verdict, at in rows]
    return {(which["part"], which["number"]): (verdict, at) for which, verdict, at in known}


def runs_used(db: sqlite3.Connection, question: str, bank: str) -> int:
    """Return how many runs a person has made of a bank's question since it last began anew."""
    query = (
        "SELECT what = 'run', bank FROM events"
        " WHERE what IN ('run', 'reset', 'again') AND question = ? ORDER BY id DESC"
    )
    found = db.execute(query, (question,))
    done = [is_run for is_run, recorded in found if is_about_question(recorded, bank, question)]
    return [*done, False].index(False)
