"""One thing that somebody did, the tables, and what brings those of an earlier version up to date.

`events` says who did what to which question, and when; rows are added and never changed.
`submissions` holds every file once, however often it was graded. `attempts` is a view: a grade is
two events, `begun` (or `review`) with the bytes and `graded` with the verdict, so that a grade that
was interrupted has its bytes.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    import sqlite3

What = Literal[
    "started",  # `path`: the folder
    "begun",  # a grade of one's own file: the bytes are safe
    "review",  # a grade of another file, `path`: no try of one's own
    "graded",  # what a `begun` or a `review` came to
    "hint",
    "solution",
    "reset",  # with the bytes that were there, if there were any
    "restored",  # likewise
    "run",  # an experiment: the candidate's script was called with `seed`
]


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
    parts: str | None = None  # the verdict of each: "pass fail skipped"; NO_TRY


NO_TRY = "unread"  # in `parts` of a grade: no part was tried, because the file is no Python

_NAMES = tuple(field.name for field in fields(Event))
_INSERT = f"INSERT INTO events ({', '.join(_NAMES)}) VALUES ({', '.join('?' * len(_NAMES))})"


def add(db: sqlite3.Connection, event: Event) -> int | None:
    """Append an event and return the number of its row."""
    return db.execute(_INSERT, [getattr(event, name) for name in _NAMES]).lastrowid


_SUBMISSIONS = "CREATE TABLE submissions (sha256 TEXT PRIMARY KEY, bytes BLOB NOT NULL)"
_EVENTS = """
    CREATE TABLE events (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        what TEXT NOT NULL,
        at TEXT NOT NULL,
        who TEXT NOT NULL DEFAULT '',
        program TEXT NOT NULL DEFAULT '',
        question TEXT NOT NULL,
        bank TEXT NOT NULL DEFAULT '',
        digest TEXT NOT NULL DEFAULT '',
        attempt INTEGER,
        path TEXT,
        hint INTEGER,
        seed INTEGER,
        sha256 TEXT REFERENCES submissions (sha256),
        verdict TEXT,
        isolation TEXT,
        seconds REAL,
        report TEXT,
        parts TEXT,
        UNIQUE (attempt, what)
    )
    """
_INDEXES = (  # every lookup of a grade is a search in one of these, however many attempts there are
    "CREATE INDEX events_by_what ON events (what, question)",
    "CREATE INDEX events_by_question ON events (question, attempt, what)",
    "CREATE INDEX events_by_seed ON events (question, seed, attempt)",
)
_FROM_1 = (  # which had a table each of attempts, starts, hints and solutions
    """
    INSERT INTO events (what, at, question, bank, path)
    SELECT 'started', created_at, question, bank, folder FROM starts ORDER BY id
    """,
    """
    INSERT INTO events (what, at, question, bank, attempt, seed, sha256)
    SELECT iif(kind = 'kept', 'kept', 'begun'), created_at, question, bank, id, seed, sha256
    FROM attempts ORDER BY id
    """,
    """
    INSERT INTO events (
        what, at, question, bank, attempt, verdict, isolation, seconds, report
    )
    SELECT 'graded', finished_at, question, bank, id, verdict, isolation, seconds, report
    FROM attempts WHERE finished_at IS NOT NULL ORDER BY id
    """,
    """
    INSERT INTO events (what, at, question, hint) SELECT 'hint', '', question, shown FROM hints
    """,
    """
    INSERT INTO events (what, at, question)
    SELECT 'solution', given_up_at, question FROM solutions
    """,
    *(f"DROP TABLE {table}" for table in ("attempts", "starts", "hints", "solutions")),
)
_VIEW = """
    CREATE VIEW attempts AS
    SELECT
        begun.attempt AS id,
        CASE begun.what
            WHEN 'begun' THEN 'grade' WHEN 'review' THEN 'review' ELSE 'kept'
        END AS kind,
        begun.question, begun.bank, begun.digest, begun.program,
        begun.at AS created_at, graded.at AS finished_at,
        begun.seed, graded.verdict, graded.isolation, graded.seconds,
        begun.sha256, graded.report, graded.parts
    FROM events AS begun
    LEFT JOIN events AS graded ON graded.attempt = begun.attempt AND graded.what = 'graded'
    WHERE begun.attempt IS NOT NULL AND begun.what != 'graded'
    """
_RULES = (
    *(
        f"CREATE TRIGGER events_no_{what} BEFORE {what} ON events"
        " BEGIN SELECT RAISE(ABORT, 'events are never changed'); END"
        for what in ("UPDATE", "DELETE")
    ),
    _VIEW,
)
_WITH_PARTS = ("ALTER TABLE events ADD COLUMN parts TEXT", "DROP VIEW attempts", _VIEW)

LATEST = 4
_STAMP = f"PRAGMA user_version = {LATEST}"
MIGRATIONS = {  # by the `user_version` that is found, 0 in a new file
    0: (_SUBMISSIONS, _EVENTS, *_INDEXES, *_RULES, _STAMP),
    1: (_EVENTS, *_INDEXES, *_FROM_1, *_RULES, _STAMP),
    2: ("DROP INDEX events_by_question", *_INDEXES, *_WITH_PARTS, _STAMP),
    3: (*_WITH_PARTS, _STAMP),
}
