"""Attempts: the bytes first, the verdict when there is one.

An attempt without a verdict is one that was interrupted; its bytes are as safe as any other's.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Literal

from grader.records.events import Event, add

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


def listing(db: sqlite3.Connection, question: str | None = None) -> tuple[Attempt, ...]:
    """Return every attempt, or those of one question, the latest last."""
    rows = db.execute(f"{_SELECT} WHERE ?1 IS NULL OR question = ?1 ORDER BY id", (question,))
    return tuple(Attempt(*row) for row in rows)


def find(db: sqlite3.Connection, number: int) -> tuple[Attempt, bytes] | None:
    """Return an attempt and its submission, or None where there is no such number."""
    row = db.execute(f"{_SELECT} WHERE id = ?", (number,)).fetchone()
    if row is None:
        return None
    attempt = Attempt(*row)
    query = "SELECT bytes FROM submissions WHERE sha256 = ?"
    return attempt, bytes(db.execute(query, (attempt.sha256,)).fetchone()[0])


def with_seed(db: sqlite3.Connection, question: str, bank: str, seed: int) -> Attempt | None:
    """Return the latest graded attempt at a question of a bank that had a seed."""
    query = f"{_SELECT} WHERE question = ? AND bank = ? AND seed = ? ORDER BY id DESC LIMIT 1"
    row = db.execute(query, (question, bank, seed)).fetchone()
    return None if row is None else Attempt(*row)
