"""Interviews: a stretch of time, the questions asked in it, and notes.

What came of them is read from the events of that time, as of any other (ADR 33). While one is open
reports are sealed, and in a blind one verdicts too: whatever reads the records finds none.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple

from grader.records.progress import NO_TRY

if TYPE_CHECKING:
    import sqlite3

SEALED = "sealed"  # the verdict of a grade in a blind interview that is open


class Chosen(NamedTuple):
    """A question of an interview, as it was when that began: its bank may be gone since."""

    called: str  # ID, or BANK/ID
    id: str
    bank: str
    title: str
    minutes: tuple[int, ...]  # planned for each part

    @property
    def planned(self) -> int:
        """The minutes of all parts."""
        return sum(self.minutes)


class Said(NamedTuple):
    """A part that was asked, or a note that was taken on it."""

    question: str  # id
    part: int
    at: str
    text: str = ""


@dataclass(slots=True)
class Interview:
    """One interview, as far as it is on record."""

    number: int  # from 1
    id: int  # of the event that began it
    at: str  # UTC, ISO 8601
    minutes: int
    questions: list[Chosen]
    blind: bool
    candidate: str  # who is asked by a host; empty: oneself
    folder: str  # in which those of the questions are made
    asked: list[Said] = field(default_factory=list)
    notes: list[Said] = field(default_factory=list)
    closed: str = ""  # when it was ended, or first looked back on

    def minute(self, at: str) -> float:
        """Return how far it was at a moment, within its bounds, wherever the clock was put."""
        end = min(self.minutes, self._since(self.closed)) if self.closed else self.minutes
        return max(0.0, min(self._since(at), end))

    def _since(self, at: str) -> float:
        return (datetime.fromisoformat(at) - datetime.fromisoformat(self.at)).total_seconds() / 60

    def is_open(self, now: str) -> bool:
        """Return whether its time is not over."""
        return not self.closed and self.minute(now) < self.minutes

    def holds(self, at: str) -> bool:
        """Return whether a moment is in its time."""
        return self._since(at) <= self.minute(self.closed or at)

    def chosen(self, question: str) -> Chosen:
        """Return the question of an id."""
        return next(one for one in self.questions if one.id == question)


def every(db: sqlite3.Connection) -> list[Interview]:
    """Return all interviews, in the order in which they were begun."""
    import json  # which a list of questions does without

    found: list[Interview] = []
    query = (
        "SELECT id, what, at, question, parts, detail FROM events"
        " WHERE what IN ('interview', 'asked', 'noted', 'interviewed') ORDER BY id"
    )
    for row, what, at, question, part, detail in db.execute(query):
        if what == "interview":
            kept = json.loads(detail)
            chosen = [Chosen(*one) for one in kept.pop("questions")]
            found.append(Interview(len(found) + 1, row, at, questions=chosen, **kept))
        elif what == "asked":
            found[-1].asked.append(Said(question, int(part), at))
        elif what == "noted":
            found[-1].notes.append(Said(question, int(part), at, detail))
        else:
            found[-1].closed = found[-1].closed or at
    return found


class Happened(NamedTuple):
    """One event of a question in an interview."""

    what: str
    at: str
    attempt: int | None
    hint: int | None
    sha256: str | None
    parts: str | None
    report: str | None


def during(db: sqlite3.Connection, held: Interview, question: str) -> list[Happened]:
    """Return what happened to a question in the time of an interview, and before the next one."""
    query = (
        "SELECT what, at, attempt, hint, sha256, parts, report FROM events"
        " WHERE question = ? AND id > ? AND id < (SELECT coalesce(min(id), 1 << 62) FROM events"
        " WHERE what = 'interview' AND id > ?) ORDER BY id"
    )
    rows = map(Happened._make, db.execute(query, (question, held.id, held.id)))
    # A grade that was begun in time counts.
    return [row for row in rows if row.what == "graded" or held.holds(row.at)]


def seal(db: sqlite3.Connection, columns: list[str], attempts: str, now: str) -> None:
    """Hide from a connection what an open interview keeps until its end."""
    held = next(reversed(every(db)), None)
    if held is None or not held.is_open(now):
        return
    instead = {"report": "NULL"}
    if held.blind:
        instead |= {"verdict": f"'{SEALED}'", "parts": f"CASE parts WHEN '{NO_TRY}' THEN parts END"}
    shown = ", ".join(
        f"CASE WHEN what = 'graded' AND id > {held.id} THEN {instead[name]} ELSE {name} END"
        f" AS {name}" if name in instead else name
        for name in ["id", *columns]
    )  # fmt: skip
    db.execute("PRAGMA temp_store = MEMORY")
    db.execute(f"CREATE TEMP VIEW events AS SELECT {shown} FROM main.events")
    db.execute(f"CREATE TEMP {attempts}")
