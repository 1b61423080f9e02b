"""Attempts: bytes first, stored once each; progress follows from them."""

from __future__ import annotations

import sqlite3
from dataclasses import replace
from pathlib import Path

import pytest

from grader.records import attempts, progress
from grader.records.events import add
from grader.records.store import RecordsError, Store
from tests.records.making import SOME, begin, finish, start


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """Give an empty store."""
    return Store(tmp_path, print)


def overview(store: Store) -> dict[str, progress.Progress]:
    return store.read(lambda db: dict(progress.overview(db)), empty={})


@pytest.mark.parametrize("content", [b"", b"\0\xff", b"x" * 1_000_000])
def test_the_bytes_come_back_as_they_were(store: Store, content: bytes) -> None:
    number = begin(store, content)
    found = store.write(lambda db: attempts.find(db, number))
    assert found is not None
    attempt, back = found
    assert back == content
    assert (attempt.state, attempt.verdict, attempt.seed) == ("unfinished", None, 2**63 - 1)
    assert (attempt.bank, attempt.digest, attempt.program) == ("b", "d", "0.1.0")
    assert store.write(lambda db: attempts.find(db, number + 1)) is None


def test_the_same_bytes_are_stored_once(store: Store) -> None:
    numbers = [begin(store, b"same"), begin(store, b"same", "other"), begin(store, b"new")]
    assert numbers == [1, 2, 3]
    query = "SELECT count(*) FROM submissions"
    assert store.write(lambda db: db.execute(query).fetchone()[0]) == 2


def test_a_verdict_is_added_to_its_attempt(store: Store) -> None:
    first, second = begin(store, b"1"), begin(store, b"2")
    finish(store, second, "pass")
    found = store.write(attempts.listing)
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
    assert len(store.write(attempts.listing)) == 1


def test_an_attempt_has_one_verdict(store: Store) -> None:
    number = begin(store, b"1")
    finish(store, number, "fail")
    with pytest.raises(RecordsError, match="UNIQUE"):
        finish(store, number, "pass")


def test_progress_counts_verdicts_and_nothing_else(store: Store) -> None:
    begin(store, b"interrupted")
    begin(store, b"kept", what="reset")
    assert overview(store)["q"].state == "new"
    finish(store, begin(store, b"of somebody else", what="review"), "pass")
    assert overview(store)["q"].state == "new"
    finish(store, begin(store, b"wrong"), "fail")
    assert (overview(store)["q"].state, overview(store)["q"].tries) == ("tried", 1)
    finish(store, begin(store, b"right"), "pass")
    finish(store, begin(store, b"wrong again"), "fail")
    assert (overview(store)["q"].state, overview(store)["q"].tries) == ("passed", 3)
    assert store.write(lambda db: progress.passed(db, "q"))
    assert not store.write(lambda db: progress.passed(db, "other"))


def test_the_number_of_a_try_is_its_own_place(store: Store) -> None:
    def tries(db: sqlite3.Connection) -> list[tuple[int, int]]:
        review = replace(SOME, what="review")
        return [attempts.begin(db, event, b"x") for event in (SOME, review, SOME)]

    assert store.write(tries) == [(1, 1), (2, 1), (3, 2)]


def test_the_latest_attempt_with_a_seed_is_found(store: Store) -> None:
    begin(store, b"1", seed=7)
    second = begin(store, b"2", seed=7)
    begin(store, b"3", seed=8)
    found = store.write(lambda db: attempts.with_seed(db, "q", "b", 7))
    assert found is not None
    assert found.id == second
    assert store.write(lambda db: attempts.with_seed(db, "q", "another bank", 7)) is None


def test_hints_and_solutions_that_were_shown_are_remembered(store: Store) -> None:
    assert store.write(lambda db: progress.hints_shown(db, "q")) == 0
    assert not store.write(lambda db: progress.given_up(db, "q"))
    for event in (replace(SOME, what="hint", hint=n) for n in (1, 2)):
        store.write(lambda db, event=event: add(db, event))  # type: ignore[misc]
    store.write(lambda db: add(db, replace(SOME, what="solution")))
    assert store.write(lambda db: progress.hints_shown(db, "q")) == 2
    assert store.write(lambda db: progress.given_up(db, "q"))


def test_starts_are_listed_the_latest_first(store: Store) -> None:
    for name in ("a", "b", "a"):
        start(store, name, f"/home/{name}")
    assert [s.question for s in store.write(progress.starts)] == ["a", "b", "a"]
    assert len(store.write(lambda db: progress.starts(db, "a"))) == 2
    assert overview(store)["b"].state == "started"
