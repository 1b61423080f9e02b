"""Attempts: the bytes first, the verdict when there is one.

An attempt without a verdict is one that was interrupted; its bytes are as safe as any other's.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, Literal, get_type_hints

from grader.records.events import Event, add
from grader.records.store import RecordsError

if TYPE_CHECKING:
    import sqlite3


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
        The attempt's number, and how many tries at the question there are with it.
    """
    from hashlib import sha256

    digest = sha256(submission).hexdigest()
    db.execute("INSERT OR IGNORE INTO submissions VALUES (?, ?)", (digest, submission))
    (number,) = db.execute("SELECT coalesce(max(attempt), 0) + 1 FROM events").fetchone()
    add(db, replace(event, attempt=number, sha256=digest))
    query = "SELECT count(*) FROM events WHERE question = ? AND what = 'begun'"
    (tries,) = db.execute(query, (event.question,)).fetchone()
    return number, tries


def listing(
    db: sqlite3.Connection, question: str | None = None, bank: str | None = None, most: int = -1
) -> tuple[Attempt, ...]:
    """Return the latest attempts, or those at a question (of a bank), the latest last."""
    where, values = _which(question, bank)
    query = f"{_SELECT}{where} ORDER BY id DESC LIMIT ?"
    rows = db.execute(query, (*values, most)).fetchall()
    return tuple(_attempt(row) for row in reversed(rows))


def count(db: sqlite3.Connection, question: str | None = None, bank: str | None = None) -> int:
    """Return how many attempts there are, or are at a question (of a bank)."""
    where, values = _which(question, bank)
    return int(db.execute(f"SELECT count(*) FROM attempts{where}", values).fetchone()[0])


def _which(question: str | None, bank: str | None) -> tuple[str, list[str]]:
    """Return a condition for what was named, and its values; an index serves it as it is."""
    named = {"question": question, "bank": bank}
    given = {name: value for name, value in named.items() if value is not None}
    where = " AND ".join(f"{name} = ?" for name in given)
    return where and f" WHERE {where}", [*given.values()]


def find(db: sqlite3.Connection, number: int) -> tuple[Attempt, bytes] | None:
    """Return an attempt and its submission, or None where there is no such number."""
    if number >= 2**63:  # which SQLite does not take
        return None
    row = db.execute(f"{_SELECT} WHERE id = ?", (number,)).fetchone()
    if row is None:
        return None
    attempt = _attempt(row)
    query = "SELECT CAST(bytes AS BLOB) FROM submissions WHERE sha256 = ?"
    found = db.execute(query, (attempt.sha256,)).fetchone()
    if found is None:
        raise RecordsError(f"the submission of attempt {number} is not in the records")
    return attempt, found[0]


def with_seed(db: sqlite3.Connection, question: str, bank: str, seed: int) -> Attempt | None:
    """Return the latest graded attempt at a question of a bank that had a seed."""
    query = f"{_SELECT} WHERE question = ? AND bank = ? AND seed = ? ORDER BY id DESC LIMIT 1"
    row = db.execute(query, (question, bank, seed)).fetchone()
    return None if row is None else _attempt(row)


def _attempt(row: tuple[Any, ...]) -> Attempt:
    """Return a row as an attempt: SQLite keeps a value of any type in any column.

    Raises:
        RecordsError: The file was changed; a value is not of its type.
    """
    for (name, wanted), value in zip(_TYPES.items(), row, strict=True):
        if not isinstance(value, wanted):
            raise RecordsError(f"attempt {row[0]!r:.20}: {name} cannot be {value!r:.40}")
    return Attempt(*row)
