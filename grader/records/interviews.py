"""Interviews, put together from their events.

While an interview is open, the results of grades in it are hidden (ADR 33, in `docs/adr`).
"""

from __future__ import annotations

import math
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
    """A question as it was when it was planned or asked: its bank may be gone now.

    Events hold its values in this order.
    """

    called: str  # ID, or BANK/ID
    id: str
    bank: str
    title: str
    minutes: tuple[int, ...]  # planned for each part


class InterviewEntry(NamedTuple):
    """A part that was asked, or a note or a mark on a part (0: a mark on the whole question)."""

    question: str
    part: int
    at: str
    text: str = ""


@dataclass(slots=True)
class Interview:
    """A recorded interview: its plan, and what was asked, noted, marked and decided so far.

    The `detail` of its first event holds the fields from `minutes` to `fit` by name.
    """

    number: int  # from 1
    id: int  # of the event that started it
    at: str  # UTC, ISO 8601
    minutes: int
    questions: list[InterviewQuestion]  # the planned ones, then others that were asked
    blind: bool
    candidate: str  # empty: the person practices alone
    folder: str  # with the folders of its questions
    fit: Sequence[str | None] = ()  # the track, level and role of chosen questions
    asked: list[InterviewEntry] = field(default_factory=list)
    noted: list[InterviewEntry] = field(default_factory=list)
    marked: list[InterviewEntry] = field(default_factory=list)
    decision: str = ""
    closed: str = ""  # moment of its end, or of its debrief

    def minute_of(self, at: str) -> float:
        """Return the minutes from the start to a moment.

        The result is at least 0, even if a clock was set back, and at most the interview's end.
        """
        started, *moments = [datetime.fromisoformat(t) for t in (self.at, at, self.closed) if t]
        elapsed = [(moment - started).total_seconds() / 60 for moment in moments]
        return max(0.0, min(self.minutes, *elapsed))

    def minutes_left(self, now: str) -> float:
        """Return the minutes that are left; 0 if it is over."""
        return 0.0 if self.closed else self.minutes - self.minute_of(now)

    def time_left_text(self, now: str) -> str:
        """Return the minutes as text, "31 of 45 minutes left"; empty if it is over."""
        minutes_left = self.minutes_left(now)
        if not minutes_left:
            return ""
        return f"{math.ceil(minutes_left)} of {self.minutes} minutes left"

    @property
    def current_index(self) -> int:
        """Index of the question that was asked last; -1 before the first."""
        if not self.asked:
            return -1
        ids = [question.id for question in self.questions]
        return ids.index(self.asked[-1].question)


def all_interviews(db: sqlite3.Connection) -> list[Interview]:
    """Return all interviews, in the order in which they started.  Invalid events are skipped."""
    interviews: list[Interview] = []
    query = (
        "SELECT id, what, at, question, parts, detail FROM events"
        " WHERE what IN ('interview', 'asked', 'noted', 'marked', 'decided', 'interviewed')"
        " ORDER BY id"
    )
    for row in db.execute(query):
        # Other programs may have written events that do not fit.
        with suppress(ValueError, KeyError, TypeError, IndexError):
            _apply_event(interviews, *row)
    return interviews


def _apply_event(
    interviews: list[Interview],
    event_id: int,
    what: str,
    at: str,
    question: str,
    part: str,
    detail: str | None,
) -> None:
    """Start an interview from its first event, or add a later event to the last interview.

    Raises ValueError, KeyError, TypeError or IndexError if the event is invalid.
    """
    import json  # a command that lists questions does without

    if what == "interview":
        values = json.loads(detail or "")
        questions = [InterviewQuestion(*fields) for fields in values.pop("questions")]
        number = len(interviews) + 1
        interviews.append(Interview(number, event_id, at, questions=questions, **values))
        return
    interview = interviews[-1]
    if what == "interviewed":
        interview.closed = interview.closed or at
    elif what == "decided":
        interview.decision = detail or ""
    else:
        if what == "asked" and detail:
            interview.questions.append(InterviewQuestion(*json.loads(detail)))
        entries = {
            "asked": interview.asked,
            "noted": interview.noted,
            "marked": interview.marked,
        }
        entries[what].append(InterviewEntry(question, int(part), at, detail or ""))


def latest_interview(db: sqlite3.Connection) -> Interview | None:
    """Return the interview that started last; None if there never was one."""
    interviews = all_interviews(db)
    return interviews[-1] if interviews else None


def events_during(db: sqlite3.Connection, interview: Interview, question: str) -> list[Event]:
    """Return the events of a question during an interview.

    Verdicts after its end are included, too, because their grades may have started before.
    """
    query = (
        f"SELECT {', '.join(Event._fields)} FROM events WHERE question = ? AND id > ? ORDER BY id"
    )
    rows = [Event(*row) for row in db.execute(query, (question, interview.id))]
    end = interview.minute_of(interview.closed) if interview.closed else interview.minutes
    return [row for row in rows if row.what == "graded" or interview.minute_of(row.at) < end]


def hide_results(db: sqlite3.Connection, now: str) -> None:
    """Hide the results of the latest interview from a connection while the interview is open.

    Grades of its questions since it started have no report.  In a blind interview their verdict
    is "sealed", and the verdicts of parts and the duration are hidden, too.  Other grades stay
    visible.  Temporary views replace the table `events` and the view `attempts`.
    """
    interview = latest_interview(db)
    if interview is None or not interview.questions or not interview.time_left_text(now):
        return
    replacements = {"report": "NULL"}
    if interview.blind:
        replacements |= {
            "seconds": "NULL",
            "verdict": "'sealed'",
            "parts": f"CASE parts WHEN '{NO_TRY_MARK}' THEN parts END",
        }
    conditions = []
    for question in interview.questions:
        in_bank = f"counts(bank, {_sql_text(question.bank)}, question)"
        conditions.append(f"question = {_sql_text(question.id)} AND {in_bank}")
    is_asked = " OR ".join(conditions)
    is_sealed = f"what = 'graded' AND id > {interview.id} AND ({is_asked})"
    columns = {name: name for name in ("id", *Event._fields)}
    for name, replacement in replacements.items():
        columns[name] = f"CASE WHEN {is_sealed} THEN {replacement} ELSE {name} END AS {name}"
    db.execute("PRAGMA temp_store = MEMORY")
    db.execute(f"CREATE TEMP VIEW events AS SELECT {', '.join(columns.values())} FROM main.events")
    db.execute(f"CREATE TEMP {events.ATTEMPTS_VIEW_SQL}")


def _sql_text(text: str) -> str:
    """Return a text as an SQL literal: a view takes no parameters."""
    escaped = text.replace("'", "''")
    return f"'{escaped}'"
