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
    tries: int = 0  # gradings of one's own file that reached a verdict
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
    """A folder that was made for a question."""

    question: str
    bank: str
    folder: str


def overview(db: sqlite3.Connection) -> Mapping[str, Progress]:
    """Return the progress of every question that was ever started or graded, by id."""
    begun = db.execute("SELECT DISTINCT question FROM events WHERE what = 'started'")
    started = {question for (question,) in begun}
    found = {
        question: Progress(question in started, tries, bool(passes))
        for question, tries, passes in db.execute(
            "SELECT question, count(verdict), total(verdict = 'pass') FROM attempts"
            " WHERE kind = 'grade' GROUP BY question"
        )
    }
    return {question: Progress(started=True) for question in started} | found


def starts(db: sqlite3.Connection) -> tuple[Start, ...]:
    """Return every start, the latest first."""
    # A path that is none (the file is the user's to edit) leads nowhere.
    rows = db.execute(
        "SELECT question, bank, path FROM events WHERE what = 'started'"
        " AND typeof(path) = 'text' AND instr(path, char(0)) = 0 ORDER BY id DESC"
    )
    return tuple(Start(*row) for row in rows)


def passed(db: sqlite3.Connection, question: str) -> bool:
    """Return whether any attempt of one's own at the question passed."""
    return overview(db).get(question, Progress()).passed


def hints_shown(db: sqlite3.Connection, question: str) -> int:
    """Return how many hints of a question were shown."""
    query = (
        "SELECT max(0, coalesce(max(CAST(hint AS INTEGER)), 0)) FROM events"
        " WHERE question = ? AND what = 'hint'"
    )
    return int(db.execute(query, (question,)).fetchone()[0])


def given_up(db: sqlite3.Connection, question: str) -> bool:
    """Return whether the solution was ever shown."""
    query = "SELECT 1 FROM events WHERE question = ? AND what = 'solution'"
    return db.execute(query, (question,)).fetchone() is not None
