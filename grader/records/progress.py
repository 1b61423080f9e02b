"""How far a person is with each question: started, tried, passed, hints shown, given up.

Progress belongs to a bank and an id: two banks that hold one id know nothing of each other. A bank
that was moved or renamed keeps it, because what is on record of a bank that does not hold the id
any more counts for every bank that does; and every installation of the program has the same bank.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import astuple, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from grader.bank import holds

if TYPE_CHECKING:
    import sqlite3

# In `parts` of a grade: the file is empty, unreadable or the starter, so nobody tried.
NO_TRY = "unread"


@dataclass(frozen=True, slots=True)
class Progress:
    """What the records say of one question."""

    started: bool = False
    tries: int = 0  # versions of one's own file that reached a verdict
    passed: bool = False
    hints: int = 0  # shown
    given_up: bool = False  # the solution was shown
    parts: int = 0  # passed in the best try, from the first one on

    def asked(self, parts: int) -> int:
        """How many of a question's parts are asked: one more than were passed."""
        return min(self.passed_of(parts) + 1, parts)

    def passed_of(self, parts: int) -> int:
        """How many of a question's parts are passed."""
        return parts if self.passed else min(self.parts, parts)

    @property
    def state(self) -> str:
        """One word for a list."""
        if self.passed or self.tries:
            return "passed" if self.passed else "tried"
        return "started" if self.started else "new"


@dataclass(frozen=True, slots=True)
class Start:
    """A folder that was made for a question."""

    question: str
    bank: str
    folder: str


Overview = Mapping[tuple[str, str], Progress]  # by id and bank

_OVERVIEW = f"""
    SELECT
        event.question, event.bank,
        max(event.what = 'started'),
        count(DISTINCT iif(
            event.verdict IS NOT NULL AND event.parts IS NOT '{NO_TRY}', begun.sha256, NULL)),
        total(
            begun.id AND event.verdict = 'pass'
            AND trim(replace(coalesce(event.parts, ''), 'pass', '')) = ''
        ) > 0,
        max(iif(event.what = 'hint', event.hint, 0)),
        max(event.what = 'solution'),
        group_concat(iif(begun.id, event.parts, NULL))
    FROM events AS event
    LEFT JOIN events AS begun
        ON event.what = 'graded' AND begun.attempt = event.attempt AND begun.what = 'begun'
    {{where}}
    GROUP BY event.question, event.bank
    """


def overview(db: sqlite3.Connection, question: str | None = None) -> Overview:
    """Return the progress with every question on record, or with those of one id."""
    where = "" if question is None else "WHERE event.question = ?"
    rows = db.execute(_OVERVIEW.format(where=where), () if question is None else (question,))
    return {
        (name, bank): Progress(
            bool(started), tries, bool(passed), hints, bool(given_up), _most_passed(parts)
        )
        for name, bank, started, tries, passed, hints, given_up, parts in rows
    }


def _most_passed(tries: str | None) -> int:
    """Of the parts of several tries, as in "pass fail,pass pass", how many one has passed."""
    return max(map(parts_passed, (tries or "").split(",")))


def parts_passed(verdicts: str | None) -> int:
    """Of the parts of a try, as in "pass fail", how many are passed, from the first one on."""
    return [*(verdict == "pass" for verdict in (verdicts or "").split()), False].index(False)


def of(known: Overview, question: str, bank: Path) -> Progress:
    """Return the progress with a bank's question."""
    same = (key for key in known if key[0] == question and counts(key[1], str(bank), question))
    found = [Progress(), *map(known.__getitem__, same)]
    most = Progress(*map(max, zip(*map(astuple, found), strict=True)))
    return replace(most, tries=sum(one.tries for one in found))


def counts(recorded: str, bank: str, question: str) -> bool:
    """Return whether what is on record of a bank is about the question of `bank`, as above."""
    where = Path(recorded)
    installed = where.parts[-2:] == Path(bank).parts[-2:] == ("grader", "_bank")
    return recorded == bank or installed or not holds(where, question)


def starts(db: sqlite3.Connection) -> tuple[Start, ...]:
    """Return every start, the latest first."""
    query = "SELECT question, bank, path FROM events WHERE what = 'started' ORDER BY id DESC"
    return tuple(Start(*row) for row in db.execute(query))


def latest(db: sqlite3.Connection) -> tuple[str, ...]:
    """Return the ids of the questions on record, the one something happened to last first."""
    rows = db.execute(
        "SELECT question FROM events WHERE what IN ('started', 'begun', 'hint', 'solution')"
        " GROUP BY question ORDER BY max(id) DESC"
    )
    return tuple(str(question) for (question,) in rows)


def discussed(
    db: sqlite3.Connection, question: str, bank: str
) -> dict[tuple[int, int], tuple[str, str]]:
    """Return the last verdict on each follow-up, by part and number, and when it was given."""
    import json  # which a list of questions does without

    query = (
        "SELECT bank, detail, verdict, at FROM events"
        " WHERE what = 'discussed' AND question = ? AND verdict IS NOT NULL ORDER BY id"
    )
    rows = [row for row in db.execute(query, (question,)) if counts(row[0], bank, question)]
    known = [(json.loads(detail), verdict, at) for _, detail, verdict, at in rows]
    return {(which["part"], which["number"]): (verdict, at) for which, verdict, at in known}


def runs_used(db: sqlite3.Connection, question: str, bank: str) -> int:
    """Return how many runs a person has made of a bank's question; `drill reset` begins anew."""
    query = (
        "SELECT what, bank FROM events WHERE what IN ('run', 'reset') AND question = ? ORDER BY id"
    )
    done = [w for w, recorded in db.execute(query, (question,)) if counts(recorded, bank, question)]
    return done[::-1].index("reset") if "reset" in done else len(done)
