"""Attempts: bytes first, stored once each; progress follows from them."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader.records import attempts, progress
from grader.records.store import Store


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """Give an empty store."""
    return Store(tmp_path, print)


def begin(store: Store, content: bytes, question: str = "q", kind: attempts.Kind = "grade") -> int:
    return store.write(
        lambda db: attempts.begin(
            db,
            question=question,
            bank="b",
            at="2025-11-20T21:00:00+00:00",
            seed=2**63 - 1,
            submission=content,
            kind=kind,
        )
    )


def finish(store: Store, number: int, verdict: str) -> None:
    store.write(
        lambda db: attempts.finish(
            db,
            number,
            at="2025-11-20T21:00:01+00:00",
            verdict=verdict,
            isolation="process",
            seconds=0.5,
            report='{"format": 1}',
        )
    )


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
    assert store.write(lambda db: attempts.report(db, second)) == '{"format": 1}'
    assert store.write(lambda db: attempts.report(db, first)) is None
    assert store.write(lambda db: attempts.graded(db, "q")) == 2


def test_progress_counts_verdicts_and_nothing_else(store: Store) -> None:
    begin(store, b"interrupted")
    begin(store, b"kept", kind="kept")
    assert overview(store)["q"].state == "new"
    finish(store, begin(store, b"wrong"), "fail")
    assert (overview(store)["q"].state, overview(store)["q"].tries) == ("tried", 1)
    finish(store, begin(store, b"right"), "pass")
    finish(store, begin(store, b"wrong again"), "fail")
    assert (overview(store)["q"].state, overview(store)["q"].tries) == ("passed", 3)
    assert store.write(lambda db: progress.passed(db, "q"))
    assert not store.write(lambda db: progress.passed(db, "other"))


def test_hints_count_up_to_what_there_is(store: Store) -> None:
    shown = [store.write(lambda db: progress.show_hint(db, "q", 2)) for _ in range(3)]
    assert shown == [0, 1, None]
    # A question that gained a hint since then has one more to show, one that lost some has none.
    assert store.write(lambda db: progress.show_hint(db, "q", 3)) == 2
    assert store.write(lambda db: progress.show_hint(db, "q", 1)) is None
    assert store.write(lambda db: progress.hints_shown(db, "q")) == 3


def test_giving_up_is_remembered(store: Store) -> None:
    assert not store.write(lambda db: progress.given_up(db, "q"))
    for moment in ("first", "second"):
        store.write(lambda db, moment=moment: progress.give_up(db, "q", moment))  # type: ignore[misc]
    assert store.write(lambda db: progress.given_up(db, "q"))


def test_starts_are_listed_the_latest_first(store: Store) -> None:
    for name in ("a", "b", "a"):
        start = progress.Start(name, "bank", f"/home/{name}", "now")
        store.write(lambda db, start=start: progress.add_start(db, start))  # type: ignore[misc]
    assert [s.question for s in store.write(progress.starts)] == ["a", "b", "a"]
    assert len(store.write(lambda db: progress.starts(db, "a"))) == 2
    assert overview(store)["b"].state == "started"
