"""What somebody did, as events that are never changed, and the attempts that follow from them.

An attempt is a file that was graded, or kept before another took its place. Its bytes are recorded
first and its verdict when there is one: without a verdict it was interrupted.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Literal

from grader.records import progress
from grader.records.store import RecordsError

if TYPE_CHECKING:
    import sqlite3

What = Literal[
    "started",  # `path`: the folder
    "begun",  # a grade of one's own file: the bytes are safe
    "review",  # a grade of another file, `path`: not an attempt at the question
    "graded",  # the verdict on a `begun` or a `review`
    "hint",
    "solution",
    "reset",  # with the bytes that were there, if there were any
    "restored",  # likewise
    "run",  # an experiment: the candidate's script was called with `seed`
]
NOT_PYTHON = progress.NOT_PYTHON


@dataclass(frozen=True, slots=True)
class Event:
    """Who did what to which question, when, and with which program; the rest as `what` has it."""

    what: What
    at: str  # UTC, ISO 8601
    who: str
    program: str  # version
    question: str
    bank: str
    digest: str = ""  # of the question
    attempt: int | None = None  # number that a person types
    path: str | None = None
    hint: int | None = None  # from 1
    seed: int | None = None
    sha256: str | None = None  # of the submission
    verdict: str | None = None
    isolation: str | None = None
    seconds: float | None = None
    report: str | None = None  # JSON
    parts: str | None = None  # the verdict of each: "pass fail skipped"; or NOT_PYTHON


@dataclass(frozen=True, slots=True)
class Attempt:
    """One file that was graded, or kept before another took its place."""

    id: int
    kind: Literal["grade", "review", "kept"]  # review: of a file that is not one's own
    question: str
    bank: str
    digest: str  # of the question
    program: str
    created_at: str  # UTC, ISO 8601
    finished_at: str | None
    seed: int | None
    verdict: str | None  # None: kept, or interrupted before there was one
    isolation: str | None
    seconds: float | None
    sha256: str
    parts: str | None  # as of an event; None: not graded

    @property
    def is_try(self) -> bool:
        """Whether it is a grade of one's own file, and that file is Python."""
        return self.kind == "grade" and self.parts != NOT_PYTHON

    @property
    def state(self) -> str:
        """The verdict in a word, also where there is none."""
        if self.verdict is not None:
            return self.verdict
        return "kept" if self.kind == "kept" else "unfinished"


_EVENT = tuple(field.name for field in fields(Event))
_INSERT = f"INSERT INTO events ({', '.join(_EVENT)}) VALUES ({', '.join('?' * len(_EVENT))})"
_SELECT = f"SELECT {', '.join(field.name for field in fields(Attempt))} FROM attempts"


def add(db: sqlite3.Connection, event: Event) -> int | None:
    """Append an event and return the number of its row."""
    return db.execute(_INSERT, [getattr(event, name) for name in _EVENT]).lastrowid


def begin(db: sqlite3.Connection, event: Event, submission: bytes) -> int:
    """Record an event with a submission's bytes, and return the attempt's number."""
    from hashlib import sha256

    digest = sha256(submission).hexdigest()
    db.execute("INSERT OR IGNORE INTO submissions VALUES (?, ?)", (digest, submission))
    (number,) = db.execute("SELECT coalesce(max(attempt), 0) + 1 FROM events").fetchone()
    add(db, replace(event, attempt=number, sha256=digest))
    return int(number)


def attempts(
    db: sqlite3.Connection, *, most: int = -1, **which: str | int | None
) -> tuple[Attempt, ...]:
    """Return the latest attempts that have the values given, the latest last; None is any."""
    rows = db.execute(f"{_SELECT}{_where(which)} ORDER BY id DESC LIMIT {most:d}", which).fetchall()
    return tuple(Attempt(*row) for row in reversed(rows))


def count(db: sqlite3.Connection, **which: str | int | None) -> int:
    """Return how many attempts have the values given."""
    return int(db.execute(f"SELECT count(*) FROM attempts{_where(which)}", which).fetchone()[0])


def _where(which: dict[str, str | int | None]) -> str:
    condition = " AND ".join(f"{name} = :{name}" for name in which if which[name] is not None)
    return condition and f" WHERE {condition}"


def find(db: sqlite3.Connection, number: int) -> tuple[Attempt, bytes] | None:
    """Return an attempt and its submission, or None where there is no such number."""
    if number >= 2**63:  # which SQLite does not take
        return None
    for attempt in attempts(db, id=number):
        query = "SELECT bytes FROM submissions WHERE sha256 = ?"
        for (content,) in db.execute(query, (attempt.sha256,)):
            return attempt, content
        raise RecordsError(f"the submission of attempt {number} is not in the records")
    return None


def report(db: sqlite3.Connection, number: int) -> str:
    """Return the report of an attempt as JSON; an empty text where there is none."""
    query = "SELECT report FROM attempts WHERE id = ? AND report IS NOT NULL"
    return next((str(text) for (text,) in db.execute(query, (number,))), "")


def hints_before(db: sqlite3.Connection, attempt: Attempt) -> int:
    """Return how many hints to its question had been shown when an attempt was begun."""
    query = (
        "SELECT coalesce(max(hint), 0) FROM events"
        " WHERE what = 'hint' AND question = ? AND bank = ? AND at <= ?"
    )
    given = (attempt.question, attempt.bank, attempt.created_at)
    return int(db.execute(query, given).fetchone()[0])


def begin_run(db: sqlite3.Connection, event: Event, budget: int) -> int:
    """Record an experiment and return its number, from 1; 0 and no record if all are used."""
    before = progress.runs_used(db, event.question, event.bank)
    if before >= budget:
        return 0
    add(db, event)
    return before + 1
