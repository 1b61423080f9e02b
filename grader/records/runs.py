"""The experiments that somebody has made with a question, since the starter was last put back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.records import progress
from grader.records.events import Event, add

if TYPE_CHECKING:
    import sqlite3


def used(db: sqlite3.Connection, question: str, bank: str) -> int:
    """Return how many runs a person has made of a bank's question; `drill reset` begins anew."""
    rows = db.execute(
        "SELECT what, bank FROM events WHERE what IN ('run', 'reset') AND question = ? ORDER BY id",
        (question,),
    )
    count = 0
    for what, recorded in rows:
        if progress.counts(recorded, bank, question):
            count = count + 1 if what == "run" else 0
    return count


def begin(db: sqlite3.Connection, event: Event, budget: int) -> int:
    """Record a run and return its number, from 1; record nothing and return 0 if all are used."""
    before = used(db, event.question, event.bank)
    if before >= budget:
        return 0
    add(db, event)
    return before + 1
