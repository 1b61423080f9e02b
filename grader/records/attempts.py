"""Attempts: the bytes first, the verdict when there is one.

An attempt without a verdict is one that was interrupted; its bytes are as safe as any other's.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, Literal, get_type_hints

from grader.records import progress
from grader.records.events import NO_TRY, Event, add
from grader.records.store import RecordsError

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True)
class Attempt:
    """One file that was graded, or kept before another took its place."""

    id: int
    kind: Literal["grade", "review", "kept"]  # review: of a file that is not one's own
    question: str
    bank: str
    digest: str  # of the question; empty: graded before digests were recorded
    program: str
    created_at: str  # UTC, ISO 8601
    finished_at: str | None
    seed: int | None
    verdict: str | None  # None: kept, or interrupted before there was one
    isolation: str | None
    seconds: float | None
    sha256: str
    parts: str | None  # the verdict of each; None: graded before there were parts, or not at all

    @property
    def is_try(self) -> bool:
        """Whether it is a grade of one's own file, and that file is Python."""
        return self.kind == "grade" and self.parts != NO_TRY

    @property
    def state(self) -> str:
        """The verdict in a word, also where there is none."""
        if self.verdict is not None:
            return self.verdict
        return "kept" if self.kind == "kept" else "unfinished"


_TYPES = get_type_hints(Attempt) | {"kind": str}
_SELECT = f"SELECT {', '.join(field.name for field in fields(Attempt))} FROM attempts"


def begin(db: sqlite3.Connection, event: Event, submission: bytes) -> tuple[int, int]:
    """Record an event with a submission's bytes.

    Returns:
        The attempt's number, and how many tries at the bank's question there are with it.
    """
    from hashlib import sha256

    digest = sha256(submission).hexdigest()
    db.execute("INSERT OR IGNORE INTO submissions VALUES (?, ?)", (digest, submission))
    (number,) = db.execute("SELECT coalesce(max(attempt), 0) + 1 FROM events").fetchone()
    add(db, replace(event, attempt=number, sha256=digest))
    query = (
        "SELECT begun.bank FROM events AS begun LEFT JOIN events AS graded"
        " ON graded.what = 'graded' AND graded.attempt = begun.attempt"
        f" WHERE begun.question = ? AND begun.what = 'begun' AND graded.parts IS NOT '{NO_TRY}'"
    )
    begun = Counter(bank for (bank,) in db.execute(query, (event.question,)))
    tries = (n for bank, n in begun.items() if progress.counts(bank, event.bank, event.question))
    return number, sum(tries)


def listing(
    db: sqlite3.Connection, *, most: int = -1, **which: str | int | None
) -> tuple[Attempt, ...]:
    """Return the latest attempts that have the values given, the latest last; None is any.

    Every combination that is asked for has an index that serves it.
    """
    rows = db.execute(f"{_SELECT}{_where(which)} ORDER BY id DESC LIMIT {most:d}", which).fetchall()
    return tuple(_attempt(row) for row in reversed(rows))


def count(db: sqlite3.Connection, **which: str | None) -> int:
    """Return how many attempts have the values given."""
    return int(db.execute(f"SELECT count(*) FROM attempts{_where(which)}", which).fetchone()[0])


def _where(which: Mapping[str, object]) -> str:
    condition = " AND ".join(f"{name} = :{name}" for name in which if which[name] is not None)
    return condition and f" WHERE {condition}"


def find(db: sqlite3.Connection, number: int) -> tuple[Attempt, bytes] | None:
    """Return an attempt and its submission, or None where there is no such number."""
    if number >= 2**63:  # which SQLite does not take
        return None
    for attempt in listing(db, id=number):
        query = "SELECT CAST(bytes AS BLOB) FROM submissions WHERE sha256 = ?"
        for (content,) in db.execute(query, (attempt.sha256,)):
            return attempt, content
        raise RecordsError(f"the submission of attempt {number} is not in the records")
    return None


def report(db: sqlite3.Connection, number: int) -> str:
    """Return the report of an attempt as JSON; an empty text where there is none."""
    query = "SELECT report FROM attempts WHERE id = ? AND typeof(report) = 'text'"
    return next((str(text) for (text,) in db.execute(query, (number,))), "")


def hints_before(db: sqlite3.Connection, attempt: Attempt) -> int:
    """Return how many hints to its question had been shown when an attempt was begun."""
    query = (
        "SELECT coalesce(max(CAST(hint AS INTEGER)), 0) FROM events"
        " WHERE what = 'hint' AND question = ? AND bank = ? AND at <= ?"
    )
    given = (attempt.question, attempt.bank, attempt.created_at)
    return int(db.execute(query, given).fetchone()[0])


def _attempt(row: tuple[Any, ...]) -> Attempt:
    """Return a row as an attempt: SQLite keeps a value of any type in any column.

    Raises:
        RecordsError: The file was changed; a value is not of its type.
    """
    for (name, wanted), value in zip(_TYPES.items(), row, strict=True):
        if not isinstance(value, wanted):
            raise RecordsError(f"attempt {row[0]!r:.20}: {name} cannot be {value!r:.40}")
    return Attempt(*row)
