"""Attempts: the bytes first, the verdict when there is one.

An attempt without a verdict is one that was interrupted; its bytes are as safe as any other's.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    import sqlite3

Kind = Literal["grade", "kept"]

_COLUMNS = (
    "id, kind, question, bank, created_at, finished_at, seed, verdict, isolation, seconds, sha256"
)


@dataclass(frozen=True, slots=True)
class Attempt:
    """One file that was graded (`grade`), or kept before another took its place (`kept`)."""

    id: int
    kind: Kind
    question: str
    bank: str
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


def begin(
    db: sqlite3.Connection,
    *,
    question: str,
    bank: str,
    at: str,
    seed: int | None,
    submission: bytes,
    kind: Kind = "grade",
) -> int:
    """Record the submission's bytes and return the new attempt's number."""
    from hashlib import sha256

    digest = sha256(submission).hexdigest()
    db.execute("INSERT OR IGNORE INTO submissions VALUES (?, ?)", (digest, submission))
    row = db.execute(
        "INSERT INTO attempts (kind, question, bank, created_at, seed, sha256)"
        " VALUES (?, ?, ?, ?, ?, ?)",
        (kind, question, bank, at, seed, digest),
    )
    assert row.lastrowid is not None  # an INSERT that did not raise has one
    return row.lastrowid


def finish(
    db: sqlite3.Connection,
    attempt: int,
    *,
    at: str,
    verdict: str,
    isolation: str,
    seconds: float,
    report: str,
) -> None:
    """Add what the grade found to an attempt that was begun."""
    db.execute(
        "UPDATE attempts SET finished_at = ?, verdict = ?, isolation = ?, seconds = ?, report = ?"
        " WHERE id = ?",
        (at, verdict, isolation, seconds, report, attempt),
    )


def listing(db: sqlite3.Connection, question: str | None = None) -> tuple[Attempt, ...]:
    """Return every attempt, or those of one question, the latest last."""
    rows = db.execute(
        f"SELECT {_COLUMNS} FROM attempts WHERE ?1 IS NULL OR question = ?1 ORDER BY id",
        (question,),
    )
    return tuple(Attempt(*row) for row in rows)


def find(db: sqlite3.Connection, number: int) -> tuple[Attempt, bytes] | None:
    """Return an attempt and its submission, or None where there is no such number."""
    row = db.execute(f"SELECT {_COLUMNS} FROM attempts WHERE id = ?", (number,)).fetchone()
    if row is None:
        return None
    attempt = Attempt(*row)
    query = "SELECT bytes FROM submissions WHERE sha256 = ?"
    return attempt, bytes(db.execute(query, (attempt.sha256,)).fetchone()[0])


def report(db: sqlite3.Connection, number: int) -> str | None:
    """Return the stored report (JSON) of an attempt, None where there is none."""
    row = db.execute("SELECT report FROM attempts WHERE id = ?", (number,)).fetchone()
    return None if row is None or row[0] is None else str(row[0])


def graded(db: sqlite3.Connection, question: str) -> int:
    """Return how many attempts at a question were begun."""
    query = "SELECT count(*) FROM attempts WHERE question = ? AND kind = 'grade'"
    return int(db.execute(query, (question,)).fetchone()[0])
