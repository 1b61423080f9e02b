"""Interviews: the events of which they consist, and what an open one keeps back (ADR 33)."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple

from grader.records import events
from grader.records.events import Event
from grader.records.progress import NO_TRY_MARK

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Sequence


class InterviewQuestion(NamedTuple):
    """A question as it was when the interview began: its bank may be gone since."""

    called: str  # ID, or BANK/ID
    id: str
    bank: str
    title: str
    minutes: tuple[int, ...]  # planned for each part


class InterviewEntry(NamedTuple):
    """A part that was asked, or a note or a mark on it."""

    question: str
    part: int
    at: str
    text: str = ""


@dataclass(slots=True)
class Interview:
    """An interview, as far as it is on record."""

    number: int  # from 1
    id: int  # of the event that began it
    at: str  # UTC, ISO 8601
    minutes: int
    questions: list[InterviewQuestion]
    blind: bool
    candidate: str  # whom a host asks; empty: oneself
    folder: str  # of the folders of its questions
    fit: Sequence[str | None] = ()  # track, level and role that were wanted
    asked: list[InterviewEntry] = field(default_factory=list)
    noted: list[InterviewEntry] = field(default_factory=list)
    marked: list[InterviewEntry] = field(default_factory=list)
    decision: str = ""
    closed: str = ""  # when it was ended, or looked back on

    def minute_of(self, at: str) -> float:
        """Return how far it was at a moment, within its bounds, wherever a clock was put."""
        began, *times = map(datetime.fromisoformat, filter(None, (self.at, at, self.closed)))
        return max(0.0, min(self.minutes, *((t - began).total_seconds() / 60 for t in times)))

    def minutes_left(self, now: str) -> float:
        """Return the minutes that are left; 0 if it is over."""
        return 0.0 if self.closed else self.minutes - self.minute_of(now)

    def time_left_text(self, now: str) -> str:
        """Return the minutes in words, "31 of 45 minutes left"; nothing if it is over."""
        left = self.minutes_left(now)
        return f"{-int(-left // 1)} of {self.minutes} minutes left" if left else ""

    @property
    def current_index(self) -> int:
        """The index of the question that is asked now; -1 before the first."""
        ids = [chosen.id for chosen in self.questions]
        return ids.index(self.asked[-1].question) if self.asked else -1


def all_interviews(db: sqlite3.Connection) -> list[Interview]:
    """Return all interviews, in the order in which they began."""
    found: list[Interview] = []
    query = (
        "SELECT id, what, at, question, parts, detail FROM events"
        " WHERE what IN ('interview', 'asked', 'noted', 'marked', 'decided', 'interviewed')"
        " ORDER BY id"
    )
    for row, what, at, question, part, detail in db.execute(query):
        with suppress(ValueError, KeyError, TypeError, IndexError):  # it is no event of ours
            if what == "interview":
                import json  # which a list of questions does without

                kept = json.loads(detail)
                chosen = [InterviewQuestion(*one) for one in kept.pop("questions")]
                found.append(Interview(len(found) + 1, row, at, questions=chosen, **kept))
            elif what == "interviewed":
                found[-1].closed = found[-1].closed or at
            elif what == "decided":
                found[-1].decision = detail or ""
            else:
                if what == "asked" and detail:
                    import json

                    found[-1].questions.append(InterviewQuestion(*json.loads(detail)))
                getattr(found[-1], what).append(
                    InterviewEntry(question, int(part), at, detail or "")
                )
    return found


def latest_interview(db: sqlite3.Connection) -> Interview | None:
    """Return the interview that began last."""
    return next(reversed(all_interviews(db)), None)


def events_during(db: sqlite3.Connection, held: Interview, question: str) -> list[Event]:
    """Return what happened to a question in an interview; a grade that was begun in it counts."""
    query = (
        f"SELECT {', '.join(Event._fields)} FROM events WHERE question = ? AND id > ? ORDER BY id"
    )
    rows = [Event(*row) for row in db.execute(query, (question, held.id))]
    end = held.minute_of(held.closed) if held.closed else held.minutes
    return [row for row in rows if row.what == "graded" or held.minute_of(row.at) < end]


def hide_results(db: sqlite3.Connection, now: str) -> None:
    """Hide from a connection what is kept until the end: reports, in a blind one verdicts too.

    Grades of other questions stay as they are.
    """
    held = latest_interview(db)
    if held is None or not held.questions or not held.time_left_text(now):
        return
    instead = {"report": "NULL"}
    if held.blind:
        instead |= {
            "seconds": "NULL",
            "verdict": "'sealed'",
            "parts": f"CASE parts WHEN '{NO_TRY_MARK}' THEN parts END",
        }
    asked = " OR ".join(
        f"question = {_quoted(one.id)} AND counts(bank, {_quoted(one.bank)}, question)"
        for one in held.questions
    )
    during = f"what = 'graded' AND id > {held.id} AND ({asked})"
    sealed = f"CASE WHEN {during} THEN {{}} ELSE {{}} END AS {{}}"
    shown = (sealed.format(instead[n], n, n) if n in instead else n for n in ("id", *Event._fields))
    db.execute("PRAGMA temp_store = MEMORY")
    db.execute(f"CREATE TEMP VIEW events AS SELECT {', '.join(shown)} FROM main.events")
    db.execute(f"CREATE TEMP {events.ATTEMPTS_VIEW_SQL}")


def _quoted(text: str) -> str:
    """Return a text as SQL has it: a view takes no parameters."""
    return "'" + text.replace("'", "''") + "'"
