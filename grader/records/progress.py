"""How far a person is with each question: started, tried, passed, hints shown, given up.

Progress belongs to a question's id, wherever its bank lies: reinstalling the program moves the
bank and must not forget what was passed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True)
class Progress:
    """What the records say of one question."""

    started: bool = False
    tries: int = 0  # gradings that reached a verdict
    passed: bool = False

    @property
    def state(self) -> str:
        """One word for a list."""
        if self.passed:
            return "passed"
        if self.tries:
            return "tried"
        return "started" if self.started else "new"


@dataclass(frozen=True, slots=True)
class Start:
    """A folder that was laid down for a question."""

    question: str
    bank: str
    folder: str
    created_at: str  # UTC, ISO 8601


def overview(db: sqlite3.Connection) -> Mapping[str, Progress]:
    """Return the progress of every question that was ever started or graded, by id."""
    started = {question for (question,) in db.execute("SELECT DISTINCT question FROM starts")}
    found = {
        question: Progress(question in started, tries, bool(passes))
        for question, tries, passes in db.execute(
            "SELECT question, count(verdict), total(verdict = 'pass') FROM attempts"
            " WHERE kind = 'grade' GROUP BY question"
        )
    }
    return {question: Progress(started=True) for question in started} | found


def add_start(db: sqlite3.Connection, start: Start) -> None:
    """Record that a folder was laid down."""
    db.execute(
        "INSERT INTO starts (question, bank, folder, created_at) VALUES (?, ?, ?, ?)",
        (start.question, start.bank, start.folder, start.created_at),
    )


def starts(db: sqlite3.Connection, question: str | None = None) -> tuple[Start, ...]:
    """Return every start, or those of one question, the latest first."""
    rows = db.execute(
        "SELECT question, bank, folder, created_at FROM starts"
        " WHERE ?1 IS NULL OR question = ?1 ORDER BY id DESC",
        (question,),
    )
    return tuple(Start(*row) for row in rows)


def passed(db: sqlite3.Connection, question: str) -> bool:
    """Return whether any attempt at the question passed."""
    query = "SELECT 1 FROM attempts WHERE question = ? AND verdict = 'pass' LIMIT 1"
    return db.execute(query, (question,)).fetchone() is not None


def hints_shown(db: sqlite3.Connection, question: str) -> int:
    """Return how many hints of a question were shown."""
    row = db.execute("SELECT shown FROM hints WHERE question = ?", (question,)).fetchone()
    return 0 if row is None else int(row[0])


def show_hint(db: sqlite3.Connection, question: str, available: int) -> int | None:
    """Count one more hint as shown and return its place from 0, None where all were shown."""
    shown = min(hints_shown(db, question), available)
    if shown >= available:
        return None
    db.execute("INSERT OR REPLACE INTO hints VALUES (?, ?)", (question, shown + 1))
    return shown


def give_up(db: sqlite3.Connection, question: str, at: str) -> None:
    """Record that the solution was asked for without a pass; the first time counts."""
    db.execute("INSERT OR IGNORE INTO solutions VALUES (?, ?)", (question, at))


def given_up(db: sqlite3.Connection, question: str) -> bool:
    """Return whether the solution was ever given up for."""
    query = "SELECT 1 FROM solutions WHERE question = ?"
    return db.execute(query, (question,)).fetchone() is not None
