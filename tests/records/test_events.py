"""Attempts: bytes first, stored once each; progress follows from them."""

from __future__ import annotations

import sqlite3
from dataclasses import replace
from pathlib import Path

import pytest

from grader.records import events, progress
from grader.records.events import add
from grader.records.store import RecordsError, Store
from tests.records.conftest import SOME, begin, finish


def known(store: Store, question: str = "q") -> progress.Progress:
    return progress.of(store.read(progress.overview, empty={}), question, Path("b"))


@pytest.mark.parametrize("content", [b"", b"\0\xff", b"x" * 1_000_000])
def test_the_bytes_come_back_as_they_were(store: Store, content: bytes) -> None:
    number = begin(store, content)
    found = store.write(lambda db: events.find(db, number))
    assert found is not None
    attempt, back = found
    assert back == content
    assert (attempt.state, attempt.verdict, attempt.seed) == ("unfinished", None, 2**63 - 1)
    assert (attempt.bank, attempt.digest, attempt.program) == ("b", "d", "0.1.0")
    assert store.write(lambda db: events.find(db, number + 1)) is None


def test_a_verdict_is_added_to_its_attempt(store: Store) -> None:
    first, second = begin(store, b"1"), begin(store, b"2")
    finish(store, second, "pass")
    found = store.write(events.attempts)
    assert [(a.id, a.state, a.seconds) for a in found] == [
        (first, "unfinished", None),
        (second, "pass", 0.5),
    ]
    query = "SELECT report FROM attempts WHERE id = ?"
    assert store.write(lambda db: db.execute(query, (second,)).fetchone()) == ('{"format": 1}',)


def test_what_was_recorded_is_never_changed(store: Store) -> None:
    begin(store, b"1")
    for change in ("UPDATE events SET verdict = 'pass'", "DELETE FROM events"):
        with pytest.raises(RecordsError, match="events are never changed"):
            store.write(lambda db, change=change: db.execute(change))  # type: ignore[misc]
    assert len(store.write(events.attempts)) == 1


def test_an_attempt_has_one_verdict(store: Store) -> None:
    number = begin(store, b"1")
    finish(store, number, "fail")
    with pytest.raises(RecordsError, match="UNIQUE"):
        finish(store, number, "pass")


def test_progress_counts_verdicts_and_nothing_else(store: Store) -> None:
    begin(store, b"interrupted")
    begin(store, b"kept", what="reset")
    assert known(store).state == "new"
    finish(store, begin(store, b"of somebody else", what="review"), "pass")
    assert known(store).state == "new"
    finish(store, begin(store, b"wrong"), "fail")
    assert (known(store).state, known(store).tries) == ("tried", 1)
    finish(store, begin(store, b"right"), "pass")
    finish(store, begin(store, b"wrong again"), "fail")
    assert (known(store).state, known(store).tries) == ("passed", 3)
    assert known(store).passed
    assert known(store, "other") == progress.Progress()


def test_hints_and_solutions_that_were_shown_are_remembered(store: Store) -> None:
    assert known(store) == progress.Progress()
    for event in (replace(SOME, what="hint", hint=n) for n in (1, 2)):
        store.write(lambda db, event=event: add(db, event))  # type: ignore[misc]
    store.write(lambda db: add(db, replace(SOME, what="solution")))
    assert known(store) == progress.Progress(hints=2, given_up=True)


def test_the_latest_attempts_can_be_listed_and_all_counted(store: Store) -> None:
    for name in ("a", "b", "a", "a"):
        begin(store, b"x", name)
    found = store.write(lambda db: events.attempts(db, most=2))
    assert [a.id for a in found] == [3, 4]
    assert [
        a.id for a in store.write(lambda db: events.attempts(db, most=2, question="a", bank="b"))
    ] == [3, 4]
    assert store.write(lambda db: events.attempts(db, question="a", bank="elsewhere")) == ()
    assert store.write(events.count) == 4
    assert store.write(lambda db: events.count(db, question="a")) == 3
    assert store.write(lambda db: events.count(db, question="a", bank="elsewhere")) == 0


def test_a_submission_that_is_gone_is_a_fault_of_the_records(store: Store) -> None:
    number = begin(store, b"x")
    with sqlite3.connect(store.path) as db:
        db.execute("DELETE FROM submissions")
    db.close()
    with pytest.raises(RecordsError, match="is not in the records"):
        store.read(lambda db: events.find(db, number), empty=None)


@pytest.mark.parametrize(
    ("tries", "passed", "asked"),
    [
        ([("fail", "fail skipped skipped")], 0, 1),
        ([("error", "pass error skipped")], 1, 2),
        ([("fail", "pass pass fail"), ("fail", "fail skipped skipped")], 2, 3),
        ([("fail", "fail skipped skipped"), ("fail", "pass fail pass")], 1, 2),
        ([("pass", "pass pass pass")], 3, 3),
        ([("pass", "pass fail skipped")], 1, 2),  # only the first one counted
    ],
)
def test_one_part_more_is_asked_than_the_best_try_has_passed(
    store: Store, tries: list[tuple[str, str]], passed: int, asked: int
) -> None:
    for verdict, parts in tries:
        finish(store, begin(store, b"x"), verdict, parts)
    finish(store, begin(store, b"x", what="review"), "pass", "pass pass pass")
    assert (known(store).parts, known(store).asked(3)) == (passed, asked)
    assert known(store).passed == (asked == 3 and passed != 2)


def test_no_lookup_of_a_grade_reads_all_attempts(store: Store) -> None:
    """Every statement is a search in an index, and sorts starts and groups by bank at most."""
    begin(store, b"x")
    statements: list[str] = []

    def plans(db: sqlite3.Connection) -> list[str]:
        db.set_trace_callback(statements.append)
        progress.starts(db)
        progress.overview(db, "q")
        events.begin(db, SOME, b"y")
        events.attempts(db, most=1, question="q")
        events.attempts(db, most=1, question="q", bank="b")
        events.find(db, 1)
        db.set_trace_callback(None)
        return [
            step[3]
            for statement in statements
            if statement.lstrip().startswith(("SELECT", "INSERT OR IGNORE"))
            for step in db.execute(f"EXPLAIN QUERY PLAN {statement}")
        ]

    found = store.write(plans)
    assert len(found) > 10
    assert [step for step in found if "SCAN" in step] == []
    assert sum("TEMP B-TREE" in step for step in found) == 2
