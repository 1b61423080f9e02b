"""One thing that somebody did: appended, never changed."""

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


_NAMES = tuple(field.name for field in fields(Event))
_INSERT = f"INSERT INTO events ({', '.join(_NAMES)}) VALUES ({', '.join('?' * len(_NAMES))})"


def add(db: sqlite3.Connection, event: Event) -> int | None:
    """Append an event and return the number of its row."""
    return db.execute(_INSERT, [getattr(event, name) for name in _NAMES]).lastrowid
